#pragma once
// Problems as files that latewarp reads.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "problem.h"

namespace mqa_logits {

// What stands in a case beside the problem.
struct CaseFiles {
  std::string ptx;          // relative to the case, or absolute
  std::string source_root;  // where the PTX's names of sources are looked for
  std::string inputs;       // beside the case
  Form form = fixed;
  bool reference = false;  // expected.safetensors is beside the case
};

std::string case_text(const Problem& problem, const CaseFiles& files);

// Both throw std::ios_base::failure if a file cannot be written.
void write_inputs(const Problem& problem, const std::filesystem::path& path);
void write_reference(const Problem& problem, const std::filesystem::path& path);

// The forms in which a variant is committed.
std::span<const Form> forms_of(const NamedVariant& variant);

// The name of a committed case, and of the file with its inputs: all variants but `rows` share one.
std::string case_name(const NamedVariant& variant, const Form& form);
std::string case_inputs(const NamedVariant& variant);

// The text of a committed case, which stands in cases/ and names PTX in compiled/.
std::string committed_case(const NamedVariant& variant, const Form& form);

}  // namespace mqa_logits
