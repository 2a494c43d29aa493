#include "order/lanes.h"

#include "base/vector_level.h"

namespace lw::order {
namespace v2 {
Scan scan(const EachShape& each);
}
namespace v3 {
Scan scan(const EachShape& each);
}
namespace v4 {
Scan scan(const EachShape& each);
}

Scan scan(const EachShape& each) {
  static const auto chosen = base::choose_level(v2::scan, v3::scan, v4::scan);
  return chosen(each);
}

}  // namespace lw::order
