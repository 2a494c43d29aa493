# The conventions that every folder of src/ follows, so that adding a file needs no CMake edit.

# Flags for all our code. -ffp-contract=off: a fused mul+add would change bits (numerics are exact).
# -fno-strict-aliasing: register slots are read as u32, f32 and u64.
# -Wno-maybe-uninitialized: g++ 12 raises it falsely for aggregates of strings built in place.
add_library(latewarp_flags INTERFACE)
target_compile_options(latewarp_flags INTERFACE
  -Wall -Wextra -Wno-maybe-uninitialized -ffp-contract=off -fno-strict-aliasing -fno-math-errno)
target_include_directories(latewarp_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(latewarp_flags INTERFACE fmt::fmt Threads::Threads)

# The build baseline is x86-64-v2; hot families are compiled again for AVX2 and AVX-512 (below), whose
# targets name their level: of two -march options the last would win, and this one comes last.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(level $<TARGET_PROPERTY:LATEWARP_VECTOR_LEVEL>)
  target_compile_options(latewarp_flags INTERFACE
    -march=x86-64-$<IF:$<BOOL:${level}>,${level},v2>)
endif()

# latewarp_library(order base diagnose): src/order/**/*.cpp but *_test.cpp and main.cpp become
# lw_order, which may use lw_base and lw_diagnose; src/order/**/*_test.cpp become the test program
# order_test; src/order/main.cpp the program `latewarp`. Files named *.simd.cpp are compiled once per
# vector level with LW_SIMD_NAMESPACE = v2, v3, v4.
function(latewarp_library name)
  set(folder ${CMAKE_SOURCE_DIR}/src/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  set(tests ${sources})
  set(simd ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER simd INCLUDE REGEX "\\.simd\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|/main|\\.simd)\\.cpp$")
  list(TRANSFORM ARGN PREPEND lw_ OUTPUT_VARIABLE uses)

  if(sources OR simd)
    add_library(lw_${name} STATIC ${sources})
    target_link_libraries(lw_${name} PUBLIC latewarp_flags ${uses})
    latewarp_simd(lw_${name} "${simd}" "${uses}")
  else()
    add_library(lw_${name} INTERFACE)
    target_link_libraries(lw_${name} INTERFACE latewarp_flags ${uses})
  endif()
  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test lw_${name} GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE LW_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    add_test(NAME ${name} COMMAND ${name}_test)
  endif()
  if(EXISTS ${folder}/main.cpp)
    add_executable(latewarp ${folder}/main.cpp)
    target_link_libraries(latewarp lw_${name})
    set_target_properties(latewarp PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  endif()
endfunction()

# latewarp_embed(casefile second_owner.ptx): src/casefile/second_owner.cpp.in, with the text of the file
# for @text@, becomes a part of lw_casefile.
function(latewarp_embed name file)
  set(folder ${CMAKE_SOURCE_DIR}/src/${name})
  cmake_path(REMOVE_EXTENSION file OUTPUT_VARIABLE stem)
  set(result ${CMAKE_BINARY_DIR}/embedded/${stem}.cpp)
  file(READ ${folder}/${file} text)
  configure_file(${folder}/${stem}.cpp.in ${result} @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${file})
  target_sources(lw_${name} PRIVATE ${result})
endfunction()

function(latewarp_simd library files uses)
  foreach(level v2 v3 v4)
    if(NOT files)
      break()
    endif()
    add_library(${library}_${level} OBJECT ${files})
    target_link_libraries(${library}_${level} PRIVATE latewarp_flags ${uses})
    target_compile_definitions(${library}_${level} PRIVATE LW_SIMD_NAMESPACE=${level})
    set_target_properties(${library}_${level} PROPERTIES LATEWARP_VECTOR_LEVEL ${level})
    if(level STREQUAL "v4")
      target_compile_options(${library}_${level} PRIVATE -mprefer-vector-width=512)
    endif()
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${library}_${level}>)
  endforeach()
endfunction()

function(latewarp_subdirectory folder)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${folder}/CMakeLists.txt)
    add_subdirectory(${folder})
  endif()
endfunction()
