#pragma once

#include <string>

namespace lw::base {

// The last word of a mangled C++ name, which is what its declaration says: "part" for
// `_ZZ7softmaxPKfE4part`. Other names stay as they are.
std::string source_name(const std::string& name);

// The name that a function was declared by: "softmax" for `_Z7softmaxILi4EEvPKf`, whatever its
// namespace, template arguments and parameters. Other names stay as they are.
std::string declared_name(const std::string& name);

}  // namespace lw::base
