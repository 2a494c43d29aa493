#pragma once
// The subcommands. Each prints and returns the exit code.

#include <string>

#include "cli/options.h"

namespace lw::cli {

int check(const Options& options);
int run(const Options& options);
int coverage(const Options& options);
int explain(const std::string& rule);  // empty: all rules, a line each

}  // namespace lw::cli
