// The report for people (design section 8): a finding is a block of lines tied together at the
// left, the two places in the source first, then what is missing, then the schedule that shows it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "report/color.h"
#include "report/conditions.h"
#include "report/reach.h"
#include "report/repeat.h"
#include "report/words.h"

namespace lw::report {
namespace {

using prove::Answer;
using prove::RaceFinding;

constexpr size_t kTagColumn = 88;
constexpr size_t kMostLines = 12;   // of a list inside a block
constexpr size_t kMostBlocks = 20;  // findings told in full

// Columns that a UTF-8 text takes.
size_t width(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// Cuts a list and says by how much.
std::vector<std::string> shortened(std::vector<std::string> lines) {
  if (lines.size() <= kMostLines) return lines;
  const size_t rest = lines.size() - kMostLines;
  lines.resize(kMostLines);
  lines.push_back(fmt::format("and {} more", rest));
  return lines;
}

// One block. Lines are added in order; `close` turns the last tie into a corner.
class Block {
 public:
  Block(std::string head, const Color& color) : text_(std::move(head)), color_(color) {}

  // The place, its excerpt, and under the excerpt what was done there.
  void site(const Site& site, std::string_view what) {
    tie(site.text());
    if (!site.excerpt.empty()) {
      more(site.excerpt);
      const std::string carets(
          std::max<size_t>(1, width(site.excerpt) - site.caret - ends_in_mark(site)), '^');
      more(std::string(site.caret, ' ') + color_.red(carets) + " " + std::string(what));
    } else {
      more(std::string(what));
    }
    if (!site.inlined.empty())
      more(color_.faint(fmt::format("through {}", fmt::join(site.inlined, ", "))));
  }

  void line(std::string_view text) { ties_.push_back({std::string(text), {}, false}); }

  std::string close() {
    for (size_t i = 0; i < ties_.size(); ++i) {
      const Tie& tie = ties_[i];
      const bool last = i + 1 == ties_.size();
      std::string_view mark = tie.place ? "├─" : "├";
      if (i == 0 && tie.place) mark = "┌─";
      if (last) mark = tie.place ? "└─" : "└";
      text_ += fmt::format("  {} {}\n", mark, tie.head);
      for (const std::string& line : tie.body)
        text_ += fmt::format("  {}    {}\n", last ? " " : "│", line);
    }
    return std::move(text_);
  }

 private:
  struct Tie {
    std::string head;
    std::vector<std::string> body;
    bool place;
  };

  static size_t ends_in_mark(const Site& site) { return site.excerpt.ends_with(';') ? 1 : 0; }
  void tie(const std::string& head) { ties_.push_back({color_.bold(head), {}, true}); }
  void more(std::string text) { ties_.back().body.push_back(std::move(text)); }

  std::string text_;
  Color color_;
  std::vector<Tie> ties_;
};

class TextReport {
 public:
  TextReport(const casefile::Inputs& inputs, const Answer& answer, const Style& style)
      : answer_(answer),
        style_(style),
        color_(style.color),
        names_(inputs, *answer.run.set_up.machine) {}

  std::string make() {
    size_t told = 0;
    for (const RaceFinding& finding : answer_.races) {
      if (told++ < kMostBlocks) text_ += race(finding);
    }
    if (told > kMostBlocks)
      text_ += fmt::format("{} more findings like these\n\n", told - kMostBlocks);
    if (answer_.run.result.fault) text_ += fault(*answer_.run.result.fault);
    for (const order::PlainError& error : answer_.run.facts.errors) text_ += plain_error(error);
    if (answer_.poison) text_ += poison(*answer_.poison);
    for (const RaceFinding& finding : answer_.notes) text_ += note(finding);
    replayed();
    verdict();
    return std::move(text_);
  }

 private:
  // "what                      [TAG]"
  std::string head(std::string_view text, std::string_view tag) {
    if (tag.empty()) return color_.bold(text) + "\n";
    const size_t gap = width(text) + 2 < kTagColumn ? kTagColumn - width(text) : 2;
    return fmt::format("{}{:{}}{}\n", color_.bold(text), "", gap,
                       color_.faint(fmt::format("[{}]", tag)));
  }

  static std::string_view extent(bool all) { return all ? "in all schedules" : "in this matching"; }

  std::string race(const RaceFinding& finding) {
    const std::string_view word = finding.tier == diagnose::Tier::kError ? "error" : "race";
    const std::string tag =
        fmt::format("{}, rule {}", hazard_code(finding), diagnose::rule(finding.rule).id);
    const std::string_view where = finding.after_race && !finding.in_all_schedules
                                       ? "after another race"
                                       : extent(finding.in_all_schedules);
    Block block(head(fmt::format("{} {}: {}", word, where, headline(finding, names_)), tag),
                color_);
    const prove::RacePair& pair = finding.pairs.front();
    const bool reads = finding.hazard == prove::Hazard::read_after_write;
    const std::string_view over = reads ? "written" : "overwritten";
    block.site(names_.site(pair.first().op), done(pair.first(), "written", one_warp(pair)));
    block.site(names_.site(pair.second().op), done(pair.second(), over, one_warp(pair)));
    block.line(missing_edge(finding, names_));
    const std::string unheard = unheard_words(finding, names_);
    if (!unheard.empty()) block.line(unheard);
    block.line(others(finding));
    witness(finding, block);
    return block.close() + repeat(finding) + "\n";
  }

  // Lanes of one warp race with each other.
  static bool one_warp(const prove::RacePair& pair) {
    return pair.first().cta == pair.second().cta && pair.first().warp == pair.second().warp;
  }

  // "read by warp 3 (K1), 3rd time"
  std::string done(const order::Party& party, std::string_view write_word, bool lanes) {
    std::string_view word = party.kind == order::Kind::kRead ? "read" : write_word;
    if (party.kind == order::Kind::kAtomic) word = "changed atomically";
    std::string text = fmt::format("{} by {}", word, names_.agent(party, lanes));
    if (party.execution > 0) text += fmt::format(", {} time", ordinal(party.execution));
    return text;
  }

  // The other pairs, and how much was seen of all.
  std::string others(const RaceFinding& finding) {
    const std::string file = names_.site(finding.pairs.front().first().op).file;
    std::vector<std::string> pairs;
    std::set<uint32_t> ctas, warps;
    for (const prove::RacePair& pair : finding.pairs) {
      const std::string text = fmt::format("{} with {}", names_.line_text(pair.first().op, file),
                                           names_.line_text(pair.second().op, file));
      if (std::ranges::find(pairs, text) == pairs.end()) pairs.push_back(text);
      ctas.insert(pair.group.ctas.begin(), pair.group.ctas.end());
      ctas.insert({pair.first().cta.value, pair.second().cta.value});
      warps.insert(pair.group.earlier_warps.begin(), pair.group.earlier_warps.end());
      warps.insert(pair.group.later_warps.begin(), pair.group.later_warps.end());
    }
    pairs.erase(pairs.begin());
    std::string text =
        pairs.empty() ? "" : fmt::format("also {}; ", fmt::join(shortened(std::move(pairs)), ", "));
    return text + fmt::format("seen in {}, {}, {}", plural(ctas.size(), "CTA"),
                              plural(warps.size(), "warp"), plural(racing_bytes(finding), "byte"));
  }

  void witness(const RaceFinding& finding, Block& block) {
    if (!finding.witness) {
      if (finding.unshown != prove::Unshown::none) block.line(unshown_words(finding));
      return;
    }
    const prove::Witness& shown = *finding.witness;
    uint64_t changed = 0, words = 0;
    for (const prove::ChangedOutput& output : shown.changed) changed += output.difference.changed;
    for (size_t index : casefile::output_buffers(names_.inputs().parts)) {
      words += names_.inputs().parts.buffers[index].element_count();
    }
    std::string outcome =
        fmt::format("{} of {} output words change", counted(changed), counted(words));
    if (shown.fault) outcome = "the run ends with an error: " + fault_words(*shown.fault, names_);
    block.line(color_.yellow("witness") +
               fmt::format(": {}: {}",
                           hold_words(shown.hold, names_,
                                      names_.site(finding.pairs.front().first().op).file),
                           outcome));
    for (const prove::ChangedOutput& output : shown.changed)
      block.line(change_words(output, names_));
  }

  std::string repeat() {
    return fmt::format("repeat: {}\n", repeat_command(answer_, style_, names_));
  }

  std::string repeat(const RaceFinding& finding) {
    if (!finding.witness) return repeat();
    const prove::Witness& witness = *finding.witness;
    std::string text =
        fmt::format("repeat: {}\n", repeat_command(answer_, style_, names_, witness));
    const std::string by_source = repeat_by_source(answer_, style_, names_, witness);
    if (!by_source.empty()) text += fmt::format("on another build:{}\n", by_source);
    return text;
  }

  std::string fault(const machine::Fault& fault) {
    const bool stuck =
        fault.kind == machine::FaultKind::deadlock || fault.kind == machine::FaultKind::livelock;
    const std::string title =
        fmt::format("{} {}: {}", stuck ? "deadlock" : "error",
                    extent(answer_.fault_in_all_schedules), fault_words(fault, names_));
    const std::string_view rule = fault_rule(fault);
    Block block(head(title, rule.empty() ? "" : fmt::format("rule {}", rule)), color_);
    if (!stuck) {
      std::string who =
          fmt::format("by lane {} of {}", fault.lane.value, names_.warp(fault.cta, fault.warp));
      block.site(names_.site(fault.instruction), who);
    }
    std::vector<std::string> waiting;
    for (const machine::Waiting& one : fault.waiting) waiting.push_back(waiting_words(one, names_));
    for (const std::string& line : shortened(std::move(waiting))) block.line(line);
    return block.close() + repeat() + "\n";
  }

  std::string plain_error(const order::PlainError& error) {
    const diagnose::Rule& rule = diagnose::rule(error.rule);
    Block block(head(fmt::format("error {}: {}", extent(error.in_all_schedules),
                                 plain_error_words(error.rule)),
                     fmt::format("rule {}", rule.id)),
                color_);
    block.site(names_.site(error.party.op), done(error.party, "written", true));
    block.line(fmt::format("seen {}", error.count == 1 ? "once" : counted(error.count) + " times"));
    return block.close() + "\n";
  }

  std::string poison(const prove::PoisonFinding& finding) {
    Block block(head(fmt::format("error {}: outputs depend on bytes that nobody wrote",
                                 extent(finding.in_all_schedules)),
                     "rule E-20"),
                color_);
    block.site(names_.site(finding.read.party.op), done(finding.read.party, "written", true));
    block.line("two runs that differ only in what was there before give different outputs");
    for (const prove::ChangedOutput& output : finding.changed)
      block.line(change_words(output, names_));
    return block.close() + "\n";
  }

  std::string note(const RaceFinding& finding) {
    const diagnose::Rule& rule = diagnose::rule(finding.rule);
    const prove::RacePair& pair = finding.pairs.front();
    return fmt::format("note: {}, at {} and {} [rule {}]\n", headline(finding, names_),
                       names_.site(pair.first().op).text(), names_.site(pair.second().op).text(),
                       rule.id);
  }

  void replayed() {
    for (size_t i = 0; i < answer_.replayed.size(); ++i) {
      text_ += fmt::format("replay: {}: {}\n", hold_words(answer_.replayed[i], names_),
                           fate_words(answer_.run.fates[i]));
    }
    if (answer_.replay_changes) {
      if (answer_.replay_changes->empty())
        text_ += "replay: outputs equal the unheld run's bit for bit\n";
      for (const prove::ChangedOutput& output : *answer_.replay_changes) {
        text_ += fmt::format("replay: {}\n", change_words(output, names_));
      }
    }
  }

  void verdict() {
    const std::string words = prove::verdict_text(answer_.verdict);
    const bool clean = answer_.verdict.outcome == prove::Outcome::clean;
    const bool open = answer_.verdict.outcome == prove::Outcome::not_analysed;
    text_ += (clean ? color_.green(words) : open ? color_.yellow(words) : color_.red(words)) + "\n";
    const std::string missing = not_analysed_words(answer_, names_);
    if (!missing.empty())
      text_ += fmt::format("  not analysed: {}{}\n", missing, not_analysed_place());
    std::vector<std::string> why;
    for (const Condition& condition : conditions(answer_, names_)) {
      why.push_back(fmt::format("{} does not hold: {}", condition.rule, condition.text));
    }
    for (const std::string& line : shortened(std::move(why))) text_ += fmt::format("  {}\n", line);
    for (const std::string& line : assumption_words(answer_, names_, style_.strict)) {
      text_ += fmt::format("  {}\n", line);
    }
    const std::string contents = contents_words(answer_, names_);
    if (!contents.empty()) text_ += fmt::format("  contents: {}\n", contents);
    text_ += fmt::format("  reach: {}\n", reach_words(answer_, names_));
  }

  std::string not_analysed_place() {
    const auto& what = answer_.run.result.not_analysed;
    if (what && what->kind != machine::NotAnalysed::Kind::form) return {};
    const base::OpId op = what ? what->instruction : answer_.run.facts.not_modelled.front().op;
    const Site site = names_.site(op);
    const std::string in_ptx = fmt::format("{}:{}", site.ptx_file, site.ptx_line);
    return site.text() == in_ptx ? fmt::format(" ({})", in_ptx)
                                 : fmt::format(" ({}, {})", site.text(), in_ptx);
  }

  const Answer& answer_;
  const Style& style_;
  Color color_;
  Names names_;
  std::string text_;
};

}  // namespace

std::string text_report(const casefile::Inputs& inputs, const Answer& answer, const Style& style) {
  return TextReport(inputs, answer, style).make();
}

}  // namespace lw::report
