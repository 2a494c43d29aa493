#pragma once
// From "not ordered" to a finding: tier by what is missing (table of rule book 1.4), rule by what
// would have been the edge.

#include "order/check.h"

namespace lw::order {

struct Verdict {
  Tier tier = Tier::kRace;
  RuleId rule = RuleId::kNone;
};

// `in_warp`: the path that exists never leaves the warp (decides PX-3).
Verdict judge(const Object& earlier, const Object& later, Space space, Path path, bool in_warp);

// Both strong, same proxy, exactly the same bytes, each scope includes the other (M-5).
bool morally_strong(const Object& earlier, const Object& later);

Party party_of(const Object& object, LaneMask lanes);

}  // namespace lw::order
