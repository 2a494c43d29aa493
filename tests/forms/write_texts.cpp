// Writes tests/forms/texts: for every opcode of opcodes.txt, and for every form that none of them
// has, one instruction with real operands; and a second one where operands may be missing. Files
// are by family (the part of the opcode before the first dot) and by target, each a kernel that an
// assembler takes as it is.
//
//   write_texts OPCODES FOLDER

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "forms/operand_writer.h"
#include "ptx/forms/match.h"
#include "ptx/verify/requirements.h"
#include "ptx/verify/targets.h"

namespace lw::ptx {
namespace {

// Where texts go: the first target that the opcode and its modifiers allow.
constexpr std::array<std::string_view, 9> kTargets = {
    "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_107a"};

struct Text {
  std::string instruction;
  int version;
};

// By family and target.
using Texts = std::map<std::pair<std::string, std::string>, std::vector<Text>>;

// The words that must be there, each with its first alternative that goes with the others.
bool choose_words(const Pattern& pattern, size_t index, std::string& text) {
  if (index == pattern.elements.size()) {
    const SplitOpcode split = split_opcode(text);
    return matches_opcode(pattern, split.mods, split.types);
  }
  const Element& element = pattern.elements[index];
  if (element.group != kNowhere) return choose_words(pattern, index + 1, text);
  const size_t before = text.size();
  const auto choose = [&](std::string_view word) {
    text += '.';
    text += word;
    const bool chosen = choose_words(pattern, index + 1, text);
    if (!chosen) text.resize(before);
    return chosen;
  };
  return std::any_of(element.types.begin(), element.types.end(),
                     [&](Type type) { return choose(name_of(type)); }) ||
         std::any_of(element.mods.begin(), element.mods.end(),
                     [&](Mod mod) { return choose(name_of(mod)); });
}

std::string plainest_opcode(const Pattern& pattern) {
  std::string text(pattern.base);
  choose_words(pattern, 0, text);
  return text;
}

// Forms that sm_70 lost go to the last target that has them.
std::string target_for(const Opcode& opcode) {
  if (is_gone(opcode.form, 90, *parse_target("sm_80"))) return "sm_60";
  for (std::string_view name : kTargets) {
    if (meets_requirements(opcode, *parse_target(name))) return std::string(name);
  }
  return "sm_107a";
}

void add(Texts& texts, const Opcode& opcode) {
  const Pattern& pattern = pattern_of(opcode.form);
  const std::string target = target_for(opcode);
  auto& file = texts[{std::string(pattern.base), target}];
  std::set<std::string> written;
  for (bool full : {false, true}) {
    const int sm = parse_target(target)->number;
    const std::string operands = OperandWriter(pattern, opcode, full, sm).write();
    const std::string line = operands.empty() ? opcode.text : opcode.text + " " + operands;
    if (written.insert(line).second) file.push_back({line, needed_version(opcode)});
  }
}

Texts collect(const std::vector<std::string>& opcodes) {
  Texts texts;
  std::set<FormId> seen;
  for (const std::string& text : opcodes) {
    for (FormId form : forms_matching(split_opcode(text))) {
      add(texts, make_opcode(text, form));
      seen.insert(form);
    }
  }
  for (size_t i = 1; i < static_cast<size_t>(FormId::count); ++i) {
    const auto form = static_cast<FormId>(i);
    if (!seen.contains(form)) add(texts, make_opcode(plainest_opcode(pattern_of(form)), form));
  }
  return texts;
}

// Files for each version that is needed: what ptxas 13.0 knows (9.0), and the rest.
void write_file(const std::filesystem::path& folder, const std::string& family,
                const std::string& target, const std::vector<Text>& texts, bool known) {
  std::string body;
  int version = target == "sm_60" ? 60 : 90;
  for (const Text& text : texts) {
    if ((text.version <= 90) != known) continue;
    version = std::max(version, text.version);
    body += fmt::format("\t{};\n", text.instruction);
  }
  if (body.empty()) return;
  const std::string name = fmt::format("{}.{}{}.ptx", family, target, known ? "" : ".later");
  std::ofstream file(folder / name);
  file << fmt::format(
      ".version {}.{}\n.target {}\n.address_size 64\n\n{}\n"
      ".visible .entry forms(.param .align 16 .b8 input[64])\n{{\n{}"
      "\t.param .align 16 .b8 argument[64];\n"
      "targets: .branchtargets done;\n\n{}\ndone:\n\tret;\n}}\n",
      version / 10, version % 10, target, module_head(), register_file(), body);
}

int run(const std::string& list, const std::filesystem::path& folder) {
  std::ifstream file(list);
  std::vector<std::string> opcodes;
  for (std::string line; std::getline(file, line);) opcodes.push_back(line);
  std::filesystem::create_directories(folder);
  for (const auto& [key, texts] : collect(opcodes)) {
    write_file(folder, key.first, key.second, texts, true);
    write_file(folder, key.first, key.second, texts, false);
  }
  return 0;
}

}  // namespace
}  // namespace lw::ptx

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: write_texts OPCODES FOLDER\n";
    return 2;
  }
  return lw::ptx::run(argv[1], argv[2]);
}
