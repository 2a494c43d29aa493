#pragma once
// From argv to a subcommand.

#include "cli/options.h"

namespace lw::cli {

int run_command_line(int argc, char** argv);

}  // namespace lw::cli
