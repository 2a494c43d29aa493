# The order engine and its fuzzer alone: what tests/faults/run builds with a fault planted in it.
cmake_minimum_required(VERSION 3.25)
project(order_faults LANGUAGES CXX)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/cmake)
include(latewarp)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
enable_testing()

latewarp_library(base)
latewarp_library(diagnose base)
latewarp_library(order base diagnose)
add_subdirectory(tests/reference_order)
