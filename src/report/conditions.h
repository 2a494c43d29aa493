#pragma once
// The conditions under which one run speaks for all schedules (rule book 17.2), where they fail.

#include <string>
#include <vector>

#include "prove/judge.h"
#include "report/names.h"

namespace lw::report {

// Why one run does not speak for all schedules; empty if it does.
struct Condition {
  std::string rule;  // "D-4"
  std::string text;
};
std::vector<Condition> conditions(const prove::Answer& answer, Names& names);

}  // namespace lw::report
