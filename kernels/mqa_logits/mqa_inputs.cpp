// mqa_inputs cases FOLDER: writes the cases that are committed, and their inputs, into FOLDER.
// mqa_inputs correctness COMPILED FOLDER: writes every correctness problem (problem.h) as a case in
// a folder of its own, FOLDER/00/case.toml and on, for the PTX in COMPILED, and prints the paths of
// the cases.

#include <fmt/format.h>

#include <exception>
#include <string_view>

#include "host/tensor_file.h"
#include "write_case.h"

namespace mqa_logits {
namespace {

void write_committed(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const NamedVariant& variant : kVariants) {
    write_inputs(case_problem(variant), folder / case_inputs(variant));
    for (const Form& form : forms_of(variant)) {
      host::write_text(folder / (case_name(variant, form) + ".toml"),
                       committed_case(variant, form));
    }
  }
}

void write_correctness(const std::filesystem::path& compiled, const std::filesystem::path& root) {
  int number = 0;
  for (const Problem& problem : correctness_problems()) {
    const std::filesystem::path folder = root / fmt::format("{:02}", number++);
    const std::string ptx = case_name(problem.variant, fixed) + ".sm_100a.ptx";
    CaseFiles files;
    files.ptx = std::filesystem::absolute(compiled / ptx).string();
    files.inputs = "inputs.safetensors";
    files.reference = true;
    std::filesystem::create_directories(folder);
    write_inputs(problem, folder / files.inputs);
    write_reference(problem, folder / "expected.safetensors");
    host::write_text(folder / "case.toml", case_text(problem, files));
    fmt::print("{}\n", (folder / "case.toml").string());
  }
}

}  // namespace
}  // namespace mqa_logits

int main(int argument_count, char** arguments) {
  const std::string_view what = argument_count > 1 ? arguments[1] : "";
  try {
    if (what == "cases" && argument_count == 3) {
      mqa_logits::write_committed(arguments[2]);
      return 0;
    }
    if (what == "correctness" && argument_count == 4) {
      mqa_logits::write_correctness(arguments[2], arguments[3]);
      return 0;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", arguments[argument_count - 1], error.what());
    return 4;
  }
  fmt::print(stderr, "usage: mqa_inputs cases FOLDER | mqa_inputs correctness COMPILED FOLDER\n");
  return 2;
}
