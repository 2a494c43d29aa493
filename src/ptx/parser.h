#pragma once
// Text of PTX to a Module: the whole language, by the grammar of the PTX ISA and by what ptxas
// takes beyond it. Errors are collected; a text with any gives no module.

#include <optional>
#include <string>
#include <string_view>

#include "diagnose/diagnostic.h"
#include "ptx/module.h"

namespace lw::ptx {

std::optional<Module> parse(std::string_view text, std::string file_name,
                            diagnose::Emitter& emitter);

}  // namespace lw::ptx
