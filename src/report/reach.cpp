#include "report/reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lw::report {
namespace {

std::string memory_words(uint64_t bytes) {
  constexpr uint64_t kMebi = 1 << 20;
  return fmt::format("{} MiB", counted((bytes + kMebi - 1) / kMebi));
}

// Forms whose sums follow a rule that no device has confirmed (docs/numerics.md).
constexpr std::string_view kUnconfirmed[] = {"mma_f8f6f4", "mma_mxf8f6f4", "mma_mxf4",
                                             "mma_mxf4nvf4", "mma_sp_fp8_f16"};

std::vector<std::string> unconfirmed(Names& names) {
  std::vector<std::string> forms = forms_used(names);
  std::erase_if(forms, [](const std::string& form) {
    return std::ranges::find(kUnconfirmed, form) == std::end(kUnconfirmed);
  });
  return forms;
}

}  // namespace

std::vector<std::string> forms_used(Names& names) {
  std::set<std::string> forms;
  const auto places = names.machine().places();
  for (uint32_t i = 0; i < places.size(); ++i) forms.insert(names.form(base::OpId(i)));
  return {forms.begin(), forms.end()};
}

std::string contents_words(const prove::Answer& answer, Names& names) {
  std::string any;
  for (const std::string& name : answer.contents.any)
    any += fmt::format("{}`{}`", any.empty() ? "" : ", ", name);
  std::vector<std::string> parts;
  if (!any.empty()) parts.push_back("any of " + any);
  for (const prove::DecidingBuffer& one : answer.contents.deciding) {
    parts.push_back(fmt::format("`{}` as given, it decides what happens at {}", one.name,
                                names.site(one.at).text()));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string reach_words(const prove::Answer& answer, Names& names) {
  const machine::Reach& reach = answer.run.result.reach;
  return fmt::format("{}, {}, {} run, {} checked, {} seen, {}", plural(reach.ctas, "CTA"),
                     plural(reach.warps, "warp"), plural(reach.instructions, "instruction"),
                     counted(answer.run.facts.accesses) + " accesses",
                     plural(forms_used(names).size(), "form"),
                     memory_words(answer.run.memory_bytes));
}

std::vector<std::string> assumption_words(const prove::Answer& answer, Names& names, bool strict) {
  std::vector<std::string> sentences = answer.run.set_up.assumptions;
  const order::Facts& facts = answer.run.facts;
  if (!facts.unwritten.empty() && !answer.poison) {
    const order::Unwritten& read = facts.unwritten.front();
    sentences.push_back(fmt::format("{} that nobody wrote were read, first at {}; {}",
                                    plural(read.count, "byte"), names.line_text(read.party.op, {}),
                                    answer.races_explain_unwritten
                                        ? "these reads race with the write they want"
                                        : "with other bytes there the outputs are the "
                                          "same"));
  }
  if (const std::vector<std::string> forms = unconfirmed(names); !forms.empty())
    sentences.push_back(
        fmt::format("unconfirmed arithmetic: no device was asked for the last bits of {}",
                    fmt::join(forms, ", ")));
  if (facts.polls_other_ctas)
    sentences.push_back(
        "CTAs wait for others by polling, which relies on their being resident together");
  if (!strict && !facts.practice.empty()) {
    std::vector<std::string> rules;
    for (const diagnose::RuleId rule : facts.practice) rules.emplace_back(diagnose::rule(rule).id);
    sentences.push_back(
        fmt::format("edges of {} stand on what shipped kernels rely on and the PTX "
                    "ISA does not promise; `--strict` asks for them",
                    fmt::join(rules, ", ")));
  }
  return sentences;
}

}  // namespace lw::report
