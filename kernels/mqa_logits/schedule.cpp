#include "schedule.h"

#include "layout.h"

namespace mqa_logits {

std::vector<UnitPlace> make_schedule(std::span<const int> contexts, int first_request, int ctas) {
  std::vector<UnitPlace> units;
  for (int request = first_request; request < int(contexts.size()); ++request) {
    for (int unit = 0; unit * kUnit < contexts[request]; ++unit) units.push_back({request, unit});
  }
  const int count = int(units.size());
  units.push_back({int(contexts.size()), 0});

  std::vector<UnitPlace> schedule;
  int next = 0;
  for (int cta = 0; cta < ctas; ++cta) {
    schedule.push_back(units[next]);
    next += count / ctas + (cta < count % ctas ? 1 : 0);
  }
  schedule.push_back(units[next]);
  return schedule;
}

}  // namespace mqa_logits
