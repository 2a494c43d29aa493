#include "report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "schedule/line_index.h"

namespace lw::report {
namespace {

using order::Path;
using prove::Hazard;
using prove::RaceFinding;

SpaceNames space_of(const RaceFinding& finding) {
  return space_names(finding.pairs.front().group.first.space);
}

std::string_view first_word(const RaceFinding& finding) {
  if (finding.pairs.front().first().agent == order::Agent::kTensorFree) return "dealloc";
  return finding.hazard == Hazard::write_after_read ? "read" : "write";
}

std::string_view second_word(const RaceFinding& finding) {
  if (finding.pairs.front().second().agent == order::Agent::kTensorFree) return "dealloc";
  return finding.hazard == Hazard::read_after_write ? "read" : "write";
}

// The object in backticks, or the columns of tensor memory.
std::string racing_words(const RaceFinding& finding, Names& names) {
  if (finding.object.kind != prove::Object::Kind::tensor_memory)
    return fmt::format("`{}`", names.object(finding.object));
  uint32_t first = order::TensorCell::kColumns;
  uint32_t last = 0;
  for (const prove::RacePair& pair : finding.pairs) {
    for (const order::Interval& piece : pair.group.addresses) {
      first = std::min(first, order::TensorCell::at(piece.begin).column);
      last = std::max(last, order::TensorCell::at(piece.end - 1).column);
    }
  }
  return first == last ? fmt::format("column {}", first)
                       : fmt::format("columns {} to {}", first, last);
}

// What is there between the two, when it is not nothing.
std::string_view path_words(Path path) {
  switch (path) {
    case Path::kNone:
      return "nothing orders them";
    case Path::kControl:
      return "only relaxed operations connect them, and those order no memory";
    case Path::kExecution:
      return "a release of too small a scope, or a wait that acquires nothing, is all that "
             "connects them";
    case Path::kNoProxyFence:
      return "they are ordered, but no proxy fence stands between the generic and the async proxy";
  }
  return "";
}

std::string common_object(const order::Common& common, base::CtaId cta, Names& names) {
  switch (common.kind) {
    case order::Common::Kind::kNamedBarrier:
      return fmt::format("named barrier {}, generation {}", common.object, common.generation);
    case order::Common::Kind::kMbarrier:
      return fmt::format("mbarrier {}, phase {}", names.shared_place(cta, common.object),
                         common.generation);
    case order::Common::Kind::kWarpSync:
      return "a `bar.warp.sync`";
    case order::Common::Kind::kNone:
      break;
  }
  return {};
}

std::string point_words(const schedule::Point& point, Names& names) {
  std::string who = names.warp(point.cta, point.warp);
  if (std::has_single_bit(point.lanes)) {
    who = fmt::format("lane {} of {}", std::countr_zero(point.lanes), who);
  }
  return who;
}

std::string copy_words(const schedule::Point& point, Names& names, std::string_view file) {
  return fmt::format("the copy that {} issues at {} ({} time)", point_words(point, names),
                     names.line_text(point.instruction, file), ordinal(point.n));
}

std::string held_words(const schedule::Point& point, Names& names, std::string_view file) {
  switch (point.moment) {
    case schedule::Moment::read_done:
      return "hold back the reads of " + copy_words(point, names, file);
    case schedule::Moment::write_done:
      return "hold back the writes of " + copy_words(point, names, file);
    case schedule::Moment::execution:
      break;
  }
  return fmt::format("hold {} before {} ({} time)", point_words(point, names),
                     names.line_text(point.instruction, file), ordinal(point.n));
}

std::string until_words(const schedule::Point& point, Names& names, std::string_view file) {
  if (names.is_antagonist(point.cta))
    return fmt::format("until {} has marked and freed them", names.warp(point.cta, point.warp));
  switch (point.moment) {
    case schedule::Moment::read_done:
      return fmt::format("until {} has read its source", copy_words(point, names, file));
    case schedule::Moment::write_done:
      return fmt::format("until {} has written its result", copy_words(point, names, file));
    case schedule::Moment::execution:
      break;
  }
  return fmt::format("until {} has passed {} ({} time)", point_words(point, names),
                     names.line_text(point.instruction, file), ordinal(point.n));
}

std::string number_text(uint64_t bits, casefile::Dtype dtype) {
  if (casefile::number_kind(dtype) == casefile::NumberKind::real) {
    return fmt::format("{:.6g}", casefile::decode(bits, dtype));
  }
  if (casefile::number_kind(dtype) == casefile::NumberKind::signed_integer) {
    return fmt::format("{:.0f}", casefile::decode(bits, dtype));
  }
  return fmt::format("{}", bits);
}

std::string_view fault_kind_words(machine::FaultKind kind) {
  using Kind = machine::FaultKind;
  switch (kind) {
    case Kind::out_of_bounds:
      return "access outside every buffer";
    case Kind::misaligned:
      return "misaligned access";
    case Kind::trap:
      return "trap";
    case Kind::assertion:
      return "assertion failed";
    case Kind::barrier_misuse:
      return "wrong use of a barrier";
    case Kind::divergent_aligned:
      return "an `.aligned` instruction without all lanes of the warp";
    case Kind::wrong_mask:
      return "wrong member mask";
    case Kind::mbarrier_misuse:
      return "wrong use of an mbarrier";
    case Kind::group_misuse:
      return "wrong use of an asynchronous group";
    case Kind::bulk_misuse:
      return "wrong bulk copy";
    case Kind::tensor_map_invalid:
      return "tensor map that cannot be used";
    case Kind::tensor_memory_misuse:
      return "misuse of tensor memory";
    case Kind::register_misuse:
      return "wrong use of registers";
    case Kind::peer_misuse:
    case Kind::peer_ended:
      return "wrong use of another CTA's memory";
    case Kind::deadlock:
      return "nothing can run any more";
    case Kind::livelock:
      return "polling for what can never come";
    case Kind::never_written:
      return "outputs depend on bytes that nobody wrote";
  }
  return "";
}

// The rule of most faults of a kind; where they differ the fault states its own.
diagnose::RuleId rule_of_kind(machine::FaultKind kind) {
  using Kind = machine::FaultKind;
  using diagnose::RuleId;
  switch (kind) {
    case Kind::out_of_bounds:
      return RuleId::kNone;
    case Kind::misaligned:
      return RuleId::kNone;
    case Kind::trap:
      return RuleId::kNone;
    case Kind::assertion:
      return RuleId::kNone;
    case Kind::barrier_misuse:
      return RuleId::kE9;
    case Kind::divergent_aligned:
      return RuleId::kW11;
    case Kind::wrong_mask:
      return RuleId::kW10;
    case Kind::mbarrier_misuse:
      return RuleId::kE1;
    case Kind::group_misuse:
      return RuleId::kE14;
    case Kind::bulk_misuse:
      return RuleId::kE14;
    case Kind::tensor_map_invalid:
      return RuleId::kE15;
    case Kind::register_misuse:
      return RuleId::kE17;
    case Kind::tensor_memory_misuse:
      return RuleId::kE13;
    case Kind::peer_misuse:
    case Kind::peer_ended:
      return RuleId::kE12;
    case Kind::deadlock:
      return RuleId::kE21;
    case Kind::livelock:
      return RuleId::kE22;
    case Kind::never_written:
      return RuleId::kE20;
  }
  return RuleId::kNone;
}

}  // namespace

SpaceNames space_names(order::Space space) {
  switch (space) {
    case order::Space::kShared:
      return {"SMEM", "shared"};
    case order::Space::kGlobal:
      return {"GMEM", "global"};
    case order::Space::kTensor:
      return {"TMEM", "tensor"};
  }
  return {};
}

std::string hazard_code(order::Space space, Hazard hazard) {
  constexpr std::string_view kHazards[] = {"RAW", "WAR", "WAW"};
  return fmt::format("{}-{}", space_names(space).code, kHazards[static_cast<size_t>(hazard)]);
}

std::string hazard_code(const RaceFinding& finding) {
  return hazard_code(finding.pairs.front().group.first.space, finding.hazard);
}

std::string headline(const RaceFinding& finding, Names& names) {
  return fmt::format("{} memory {} of {} is not ordered before a later {}", space_of(finding).word,
                     first_word(finding), racing_words(finding, names), second_word(finding));
}

uint64_t racing_bytes(const RaceFinding& finding) {
  order::ByteSet bytes;
  for (const prove::RacePair& pair : finding.pairs) bytes.add(pair.group.bytes);
  return bytes.count();
}

std::string missing_edge(const RaceFinding& finding, Names& names) {
  const Path path = finding.pairs.front().group.first.path;
  const std::string object =
      common_object(finding.common, finding.pairs.front().first().cta, names);
  if (object.empty()) return std::string(path_words(path));
  const std::string after =
      path == Path::kNone ? "nothing orders them after it" : std::string(path_words(path));
  return fmt::format("both follow {} ({}); {}", object,
                     names.line_text(finding.common.later_op, {}), after);
}

std::string hold_words(const schedule::Hold& hold, Names& names, std::string_view file) {
  return fmt::format("{} {}", held_words(hold.held, names, file),
                     until_words(hold.until, names, file));
}

std::string_view fate_words(schedule::HoldFate fate) {
  switch (fate) {
    case schedule::HoldFate::not_reached:
      return "never reached";
    case schedule::HoldFate::was_late:
      return "without effect: what it waits for had happened already";
    case schedule::HoldFate::met:
      return "met";
    case schedule::HoldFate::let_go:
      return "let go: it cannot be met, nothing else could run";
  }
  return "";
}

std::string change_words(const prove::ChangedOutput& changed, Names& names) {
  const casefile::Buffer& buffer = names.inputs().parts.buffers[changed.buffer];
  const casefile::Difference& difference = changed.difference;
  std::string text = fmt::format("`{}`: {} of {} words change", buffer.name,
                                 counted(difference.changed), counted(difference.words));
  std::string_view separator = ", first ";
  for (const casefile::Difference::Word& word : difference.first) {
    text +=
        fmt::format("{}[{}] {} -> {}", separator, word.index,
                    number_text(word.before, buffer.dtype), number_text(word.after, buffer.dtype));
    separator = ", ";
  }
  return text;
}

std::string_view plain_error_words(diagnose::RuleId rule) {
  using diagnose::RuleId;
  switch (rule) {
    case RuleId::kMB5:
      return "a valid mbarrier object is initialised again";
    case RuleId::kMB33:
      return "an ordinary access touches a live mbarrier object";
    case RuleId::kTM16:
      return "a thread exits while its bulk store may still read shared memory";
    default:
      return "no valid mbarrier object is there";
  }
}

std::string_view fault_rule(const machine::Fault& fault) {
  const bool stated = fault.rule != diagnose::RuleId::kNone;
  return diagnose::rule(stated ? fault.rule : rule_of_kind(fault.kind)).id;
}

std::string fault_words(const machine::Fault& fault, Names& names) {
  if (fault.kind == machine::FaultKind::deadlock) return fault.text;
  std::string text(fault_kind_words(fault.kind));
  if (!fault.text.empty()) text += ": " + fault.text;
  if (!fault.has_address) return text;
  return fmt::format("{}, {} at address {:#x}", text, plural(fault.size_bytes, "byte"),
                     fault.address) +
         names.near(fault.address);
}

std::string waiting_words(const machine::Waiting& waiting, Names& names) {
  std::string who = names.warp(waiting.cta, waiting.warp);
  if (std::has_single_bit(waiting.lanes)) {
    who = fmt::format("lane {} of {}", std::countr_zero(waiting.lanes), who);
  }
  return fmt::format("{} waits at {} for {}", who, names.line_text(waiting.wait.instruction, {}),
                     waiting.what);
}

std::string not_analysed_words(const prove::Answer& answer, Names& names) {
  using Kind = machine::NotAnalysed::Kind;
  if (const auto& what = answer.run.result.not_analysed) {
    switch (what->kind) {
      case Kind::form:
        return fmt::format("`{}` is not modelled{}{}", names.instruction(what->instruction),
                           what->reason.empty() ? "" : ": ", what->reason);
      case Kind::steps:
        return "the budget of instructions is used up: " + what->reason;
      case Kind::time:
        return "the time limit is used up: " + what->reason;
      case Kind::memory:
        return "the memory limit is used up: " + what->reason;
    }
  }
  if (!answer.run.facts.not_modelled.empty()) {
    const order::NotModelled& what = answer.run.facts.not_modelled.front();
    return fmt::format("what `{}` orders is not modelled", names.instruction(what.op));
  }
  return {};
}

}  // namespace lw::report
