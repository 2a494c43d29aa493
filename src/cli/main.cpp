// The command line.

#include <fmt/format.h>

#include <exception>
#include <new>
#include <system_error>

#include "base/check.h"
#include "cli/command_line.h"

int main(int argc, char** argv) {
  using namespace lw::cli;
  try {
    return run_command_line(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "latewarp: this machine has not enough memory for that\n");
  } catch (const std::system_error& error) {
    fmt::print(stderr, "latewarp: {}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "latewarp: broken invariant: {}\n", error.what());
    return lw::base::kBrokenInvariantExit;
  }
  return kExitEnvironment;
}
