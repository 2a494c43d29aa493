#pragma once
// LW_LEVELS(name, (parameters), (arguments)): `Handlers name(parameters)` is what a *.simd.cpp file
// defines in its namespace for each vector level; this declares the three and defines the one that
// chooses.

#include "base/vector_level.h"
#include "program/op.h"

#define LW_LEVELS(name, parameters, arguments)                            \
  namespace v2 {                                                          \
  program::Handlers name parameters;                                      \
  }                                                                       \
  namespace v3 {                                                          \
  program::Handlers name parameters;                                      \
  }                                                                       \
  namespace v4 {                                                          \
  program::Handlers name parameters;                                      \
  }                                                                       \
  inline program::Handlers name parameters {                              \
    return base::choose_level(&v2::name, &v3::name, &v4::name) arguments; \
  }
