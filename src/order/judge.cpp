#include "order/judge.h"

namespace lw::order {
namespace {

bool is_async(Agent agent) {
  return agent == Agent::kCpAsync || agent == Agent::kBulkLoad || agent == Agent::kBulkStore;
}

// What the earlier one should have been waited for by.
RuleId completion_rule(const Object& earlier, const Object& later) {
  if (earlier.agent == Agent::kCpAsync) {
    return earlier.warp == later.warp && earlier.cta == later.cta ? RuleId::kCA2 : RuleId::kCA6;
  }
  if (is_async(later.agent) && later.agent != Agent::kCpAsync) return RuleId::kTM12;
  if (earlier.agent == Agent::kBulkStore) return earlier.writes() ? RuleId::kTM11 : RuleId::kTM10;
  return later.writes() ? RuleId::kTM2 : RuleId::kTM3;
}

RuleId proxy_rule(const Object& earlier, const Object& later, Space space) {
  if (earlier.agent == Agent::kCpAsync) return RuleId::kCA10;
  if (!earlier.writes()) return RuleId::kPX3;
  if (later.writes()) return RuleId::kPX2;
  return space == Space::kGlobal ? RuleId::kPX10 : RuleId::kPX1;
}

// Of two CTAs of a cluster.
RuleId cluster_rule(const Object& earlier, Space space, Path path) {
  if (path == Path::kExecution) return earlier.writes() ? RuleId::kK11 : RuleId::kK12;
  if (path == Path::kControl) return RuleId::kK3;
  return space == Space::kShared ? RuleId::kK1 : RuleId::kM4;
}

RuleId lanes_rule(const Object& earlier, const Object& later, Space space, Path path) {
  if (earlier.cta != later.cta) {
    if (earlier.cluster == later.cluster) return cluster_rule(earlier, space, path);
    return path == Path::kNone ? RuleId::kM4 : RuleId::kM12;
  }
  if (earlier.warp == later.warp) {
    if (earlier.agent == Agent::kMatrixRows || later.agent == Agent::kMatrixRows)
      return RuleId::kW4;
    return path == Path::kControl ? RuleId::kW2 : RuleId::kW1;
  }
  if (path == Path::kExecution) return RuleId::kMB11;
  return path == Path::kControl ? RuleId::kMB8 : RuleId::kB1;
}

bool includes(Scope scope, const Object& one, const Object& other) {
  if (one.cta == other.cta) return true;
  return scope >= Scope::kGpu || (scope == Scope::kCluster && one.cluster == other.cluster);
}

}  // namespace

Verdict judge(const Object& earlier, const Object& later, Space space, Path path, bool in_warp) {
  if (path == Path::kNoProxyFence) {
    const RuleId rule = proxy_rule(earlier, later, space);
    // The address word of an alloc is read, and then the copy goes over it.
    const bool word = rule == RuleId::kPX2 && earlier.agent == Agent::kTensorAlloc;
    const bool relied = rule == RuleId::kCA10 || ((rule == RuleId::kPX3 || word) && !in_warp);
    return {relied ? Tier::kStrict : Tier::kRace, rule};
  }
  const RuleId rule = earlier.agent == Agent::kTensorShared  ? RuleId::kT5_17
                      : earlier.agent == Agent::kTensorAlloc ? RuleId::kT5_2
                      : is_async(earlier.agent)              ? completion_rule(earlier, later)
                                                : lanes_rule(earlier, later, space, path);
  const bool done_before = path == Path::kExecution && !earlier.writes();
  return {done_before ? Tier::kStrict : Tier::kRace, rule};
}

bool morally_strong(const Object& earlier, const Object& later) {
  return earlier.strong && later.strong && earlier.async_proxy == later.async_proxy &&
         earlier.element_bytes == later.element_bytes && includes(earlier.scope, earlier, later) &&
         includes(later.scope, earlier, later);
}

Party party_of(const Object& object, LaneMask lanes) {
  Party party;
  party.op = object.op;
  party.cta = CtaId{object.cta};
  party.warp = WarpId{object.warp};
  party.lanes = lanes;
  party.agent = object.agent;
  party.kind = object.kind;
  party.epoch = object.count;
  return party;
}

}  // namespace lw::order
