// The report for programs. docs/json.md is the description of the keys; keys are only ever added.

#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "prove/objects.h"
#include "report/conditions.h"
#include "report/reach.h"
#include "report/repeat.h"
#include "report/words.h"

namespace lw::report {
namespace {

using Json = nlohmann::ordered_json;
using prove::Answer;
using prove::RaceFinding;

class JsonReport {
 public:
  JsonReport(const casefile::Inputs& inputs, const Answer& answer, const Style& style)
      : answer_(answer), style_(style), names_(inputs, *answer.run.set_up.machine) {}

  Json make() {
    Json report;
    report["case"] = names_.inputs().parts.name;
    report["verdict"] = prove::verdict_text(answer_.verdict);
    report["command"] = repeat_command(answer_, style_, names_);
    report["findings"] = findings();
    report["conditions"] = Json::array();
    for (const Condition& condition : conditions(answer_, names_)) {
      report["conditions"].push_back({{"rule", condition.rule}, {"text", condition.text}});
    }
    const std::string missing = not_analysed_words(answer_, names_);
    if (!missing.empty()) report["not_analysed"] = missing;
    if (!answer_.replayed.empty()) report["replay"] = replay();
    report["assumptions"] = assumption_words(answer_, names_, style_.strict);
    if (answer_.verdict.outcome == prove::Outcome::clean) report["contents"] = contents();
    report["reach"] = reach();
    return report;
  }

 private:
  Json findings() {
    Json list = Json::array();
    for (const RaceFinding& finding : answer_.races) list.push_back(race(finding));
    if (answer_.run.result.fault) list.push_back(fault(*answer_.run.result.fault));
    for (const order::PlainError& error : answer_.run.facts.errors)
      list.push_back(plain_error(error));
    if (answer_.poison) list.push_back(poison(*answer_.poison));
    for (const RaceFinding& finding : answer_.notes) list.push_back(race(finding));
    return list;
  }

  Json place(base::OpId op) {
    const Site site = names_.site(op);
    Json json = {
        {"file", site.ptx_file}, {"line", site.ptx_line}, {"instruction", names_.instruction(op)}};
    if (site.file != site.ptx_file) {
      json["source"] = {{"file", site.file}, {"line", site.line}, {"column", site.column}};
      if (!site.excerpt.empty()) json["source"]["text"] = site.excerpt;
      if (!site.inlined.empty()) json["source"]["inlined"] = site.inlined;
    }
    return json;
  }

  Json party(const order::Party& who) {
    Json json = {{"access", access_word(who.kind)}};
    json.update(place(who.op));
    json["agent"] = names_.agent(who, true);
    json["cta"] = who.cta.value;
    json["warp"] = who.warp.value;
    json["lanes"] = fmt::format("{:#010x}", who.lanes);
    const std::string role = names_.role(who.cta, who.warp);
    if (!role.empty()) json["role"] = role;
    if (who.execution > 0) json["execution"] = who.execution;
    return json;
  }

  Json pair(const prove::RacePair& pair) {
    return {{"earlier", party(pair.first())},
            {"later", party(pair.second())},
            {"ctas", pair.group.ctas.size()},
            {"earlier_warps", pair.swapped ? pair.group.later_warps : pair.group.earlier_warps},
            {"later_warps", pair.swapped ? pair.group.earlier_warps : pair.group.later_warps},
            {"bytes", pair.group.bytes.count()},
            {"instances", pair.group.instances}};
  }

  static std::string kind_of(const RaceFinding& finding) {
    if (finding.tier == diagnose::Tier::kNote) return "note";
    return finding.tier == diagnose::Tier::kError ? "error" : "race";
  }

  Json race(const RaceFinding& finding) {
    Json json = {{"kind", kind_of(finding)},
                 {"rule", diagnose::rule(finding.rule).id},
                 {"tier", diagnose::tier_name(finding.tier)},
                 {"code", hazard_code(finding)},
                 {"title", headline(finding, names_)},
                 {"object", names_.object(finding.object)},
                 {"in_all_schedules", finding.in_all_schedules},
                 {"after_race", finding.after_race},
                 {"missing", missing_edge(finding, names_)}};
    const std::string unheard = unheard_words(finding, names_);
    if (!unheard.empty()) json["unheard"] = unheard;
    json["pairs"] = Json::array();
    for (const prove::RacePair& one : finding.pairs) json["pairs"].push_back(pair(one));
    json["bytes"] = racing_bytes(finding);
    json["schedules_tried"] = finding.schedules_tried;
    if (finding.witness) json["witness"] = witness(*finding.witness);
    if (finding.unshown != prove::Unshown::none) json["unshown"] = unshown_name(finding.unshown);
    return json;
  }

  Json changes(const std::vector<prove::ChangedOutput>& changed) {
    Json list = Json::array();
    for (const prove::ChangedOutput& output : changed) {
      const casefile::Buffer& buffer = names_.inputs().parts.buffers[output.buffer];
      Json first = Json::array();
      for (const auto& word : output.difference.first) {
        first.push_back({{"index", word.index},
                         {"before", fmt::format("{:#x}", word.before)},
                         {"after", fmt::format("{:#x}", word.after)}});
      }
      list.push_back({{"buffer", buffer.name},
                      {"words", output.difference.words},
                      {"changed", output.difference.changed},
                      {"first", first}});
    }
    return list;
  }

  Json witness(const prove::Witness& witness) {
    Json json = {{"hold", witness.replay},
                 {"hold_by_source", witness.replay_by_source},
                 {"command", repeat_command(answer_, style_, names_, witness)},
                 {"text", hold_words(witness.hold, names_)},
                 {"changed", changes(witness.changed)}};
    if (witness.antagonist == casefile::Antagonist::tmem) json["antagonist"] = "tmem";
    if (witness.fault) json["error"] = fault_words(*witness.fault, names_);
    return json;
  }

  Json fault(const machine::Fault& fault) {
    const bool stuck =
        fault.kind == machine::FaultKind::deadlock || fault.kind == machine::FaultKind::livelock;
    Json json = {{"kind", stuck ? "deadlock" : "error"},
                 {"rule", fault_rule(fault)},
                 {"title", fault_words(fault, names_)},
                 {"in_all_schedules", answer_.fault_in_all_schedules}};
    if (!stuck) {
      json["at"] = place(fault.instruction);
      json["cta"] = fault.cta.value;
      json["warp"] = fault.warp.value;
      json["lanes"] = fmt::format("{:#010x}", fault.lanes);
    }
    for (const machine::Waiting& waiting : fault.waiting) {
      Json one = place(waiting.wait.instruction);
      one["cta"] = waiting.cta.value;
      one["warp"] = waiting.warp.value;
      one["lanes"] = fmt::format("{:#010x}", waiting.lanes);
      one["waits_for"] = waiting.what;
      json["waiting"].push_back(std::move(one));
    }
    return json;
  }

  Json plain_error(const order::PlainError& error) {
    const prove::Object object =
        prove::object_of(names_.machine(), error.space, error.party.cta, error.address);
    return {{"kind", "error"},
            {"rule", diagnose::rule(error.rule).id},
            {"title", plain_error_words(error.rule)},
            {"in_all_schedules", error.in_all_schedules},
            {"object", names_.object(object)},
            {"at", party(error.party)},
            {"count", error.count}};
  }

  Json poison(const prove::PoisonFinding& finding) {
    const prove::Object object = prove::object_of(names_.machine(), finding.read.space,
                                                  finding.read.party.cta, finding.read.address);
    return {{"kind", "error"},
            {"rule", "E-20"},
            {"title", "outputs depend on bytes that nobody wrote"},
            {"in_all_schedules", finding.in_all_schedules},
            {"object", names_.object(object)},
            {"at", party(finding.read.party)},
            {"changed", changes(finding.changed)}};
  }

  Json replay() {
    Json json;
    for (size_t i = 0; i < answer_.replayed.size(); ++i) {
      json["holds"].push_back({{"text", hold_words(answer_.replayed[i], names_)},
                               {"fate", fate_words(answer_.run.fates[i])}});
    }
    if (answer_.replay_changes) json["changed"] = changes(*answer_.replay_changes);
    return json;
  }

  Json contents() {
    Json deciding = Json::array();
    for (const prove::DecidingBuffer& one : answer_.contents.deciding)
      deciding.push_back({{"buffer", one.name}, {"at", place(one.at)}});
    return {{"any", answer_.contents.any}, {"deciding", deciding}};
  }

  Json reach() {
    const machine::Reach& reach = answer_.run.result.reach;
    return {{"ctas", reach.ctas},
            {"warps", reach.warps},
            {"instructions", reach.instructions},
            {"accesses", answer_.run.facts.accesses},
            {"forms", forms_used(names_)},
            {"memory_bytes", answer_.run.memory_bytes}};
  }

  const Answer& answer_;
  const Style& style_;
  Names names_;
};

}  // namespace

std::string json_report(const casefile::Inputs& inputs, const Answer& answer, const Style& style) {
  return JsonReport(inputs, answer, style)
             .make()
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace lw::report
