// PTX: Stack Manipulation Instructions: alloca, stacksave, stackrestore.
//
// The stack lies in local memory behind the thread's variables and grows upwards here
// (machine/procedure_ops.h), downwards on a device: PTX does not say. What a function has taken is
// given back when it returns (program/flatten.cpp) and by stackrestore.

#include <algorithm>
#include <bit>

#include "machine/core_ops.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"
#include "machine/warp.h"

namespace lw::machine {
namespace {

using ptx::Type;

constexpr uint64_t kLeastAlign = 8;

// Op: d = where it begins, a the size, b the stack pointer; detail: wide or not; immediate: the
// alignment.
void run_take(const Op& op, Warp& warp) {
  bool full = false;
  for_each_lane(warp.active, [&](int lane) {
    uint32_t& end = warp.lanes<uint32_t>(op.b)[lane];
    const uint64_t begin = (end + op.immediate - 1) & ~(op.immediate - 1);
    const uint64_t size =
        op.detail != 0 ? warp.lanes<uint64_t>(op.a)[lane] : warp.lanes<uint32_t>(op.a)[lane];
    if (size > warp.local_bytes || begin + size > warp.local_bytes) {
      full = true;
      return;
    }
    end = static_cast<uint32_t>(begin + size);
    if (op.detail != 0) {
      warp.lanes<uint64_t>(op.d)[lane] = begin;
    } else {
      warp.lanes<uint32_t>(op.d)[lane] = static_cast<uint32_t>(begin);
    }
  });
  if (full) warp.not_analysed(op, std::string(kStackIsFull));
}

template <class To, class From>
void run_copy(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    warp.lanes<To>(op.d)[lane] = static_cast<To>(warp.lanes<From>(op.a)[lane]);
  });
}

bool is_wide(const Decoder& decoder) { return decoder.type() == Type::u64; }

}  // namespace

void bind_alloca(Decoder& decoder) {
  const auto operands = decoder.operands();
  const uint64_t align = operands.size() > 2 ? static_cast<uint64_t>(operands[2].value) : 0;
  Op& op = decoder.emit(plain_handlers<run_take>, decoder.result(0), decoder.source(1),
                        decoder.stack_pointer());
  op.detail = is_wide(decoder);
  op.immediate = std::bit_ceil(std::max(kLeastAlign, align));
}

void bind_stacksave(Decoder& decoder) {
  decoder.emit(is_wide(decoder) ? plain_handlers<run_copy<uint64_t, uint32_t>>
                                : plain_handlers<run_copy<uint32_t, uint32_t>>,
               decoder.result(0), decoder.stack_pointer());
}

void bind_stackrestore(Decoder& decoder) {
  decoder.emit(is_wide(decoder) ? plain_handlers<run_copy<uint32_t, uint64_t>>
                                : plain_handlers<run_copy<uint32_t, uint32_t>>,
               decoder.stack_pointer(), decoder.source(0));
}

}  // namespace lw::machine
