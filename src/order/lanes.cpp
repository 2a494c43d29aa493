#include "order/lanes.h"

#include "base/vector_level.h"

namespace lw::order {
namespace v2 {
Scan scan(const EachShape& each);
bool is_displaced(const EachShape& each, const EachShape& pattern, uint64_t start);
void find_covers(const EachShape& each, Covers& covers);
}  // namespace v2
namespace v3 {
Scan scan(const EachShape& each);
bool is_displaced(const EachShape& each, const EachShape& pattern, uint64_t start);
void find_covers(const EachShape& each, Covers& covers);
}  // namespace v3
namespace v4 {
Scan scan(const EachShape& each);
bool is_displaced(const EachShape& each, const EachShape& pattern, uint64_t start);
void find_covers(const EachShape& each, Covers& covers);
}  // namespace v4

Scan scan(const EachShape& each) {
  static const auto chosen = base::choose_level(v2::scan, v3::scan, v4::scan);
  return chosen(each);
}

bool is_displaced(const EachShape& each, const EachShape& pattern, uint64_t start) {
  static const auto chosen =
      base::choose_level(v2::is_displaced, v3::is_displaced, v4::is_displaced);
  return chosen(each, pattern, start);
}

void find_covers(const EachShape& each, Covers& covers) {
  static const auto chosen = base::choose_level(v2::find_covers, v3::find_covers, v4::find_covers);
  chosen(each, covers);
}

}  // namespace lw::order
