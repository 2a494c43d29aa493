#pragma once

#include <string>

namespace lw::base {

// The last word of a mangled C++ name, which is what its declaration says: "part" for
// `_ZZ7softmaxPKfE4part`. Other names stay as they are.
std::string source_name(const std::string& name);

}  // namespace lw::base
