// kda_inputs PTX FOLDER: writes every correctness problem (problem.h) as a case in a folder of its
// own, FOLDER/00/case.toml and on, and prints the paths of the cases.

#include <fmt/format.h>

#include <exception>

#include "write_case.h"

int main(int argument_count, char** arguments) {
  if (argument_count != 3) {
    fmt::print(stderr, "usage: kda_inputs PTX FOLDER\n");
    return 2;
  }
  const std::filesystem::path root = arguments[2];
  int number = 0;
  try {
    for (const kda_prefill::Problem& problem : kda_prefill::correctness_problems()) {
      const std::filesystem::path folder = root / fmt::format("{:02}", number++);
      kda_prefill::write_case(problem, arguments[1], folder);
      fmt::print("{}\n", (folder / "case.toml").string());
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", root.string(), error.what());
    return 4;
  }
  return 0;
}
