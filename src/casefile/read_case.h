#pragma once
// Reads a case from a TOML file or from the `//! ` comment at the top of a PTX file. All mistakes
// are collected; a case with any is not returned. docs/cases.md lists the keys.

#include <optional>
#include <string>

#include "casefile/case.h"
#include "diagnose/diagnostic.h"

namespace lw::casefile {

// `path` ends in .ptx: the launch stands in its leading comment. Else: TOML.
std::optional<Case> read_case(const std::string& path, diagnose::Emitter& emitter);

// The bytes of a file, or a diagnostic at `place` that it cannot be read.
std::optional<std::string> read_text(const std::string& path, const Place& place,
                                     diagnose::Emitter& emitter);

// `name` beside `file`, unless it is absolute.
std::string beside(const std::string& file, const std::string& name);

}  // namespace lw::casefile
