#pragma once
// What the order engine asks back about the store whose access it is being told of (order/event.h,
// Values): will it change the bytes, do its lanes agree.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "machine/warp.h"
#include "order/event.h"

namespace lw::machine {

class StoreValues final : public order::Values {
 public:
  // The access of `op` by the running lanes begins: lane i at `each[i]`, or at `base + i * stride`;
  // in the shared memory of `owner`, if it is not the warp's own.
  void begin(const Op& op, const Warp& warp, const uint64_t* each, Cta* owner = nullptr) {
    op_ = &op;
    warp_ = &warp;
    each_ = each;
    owner_ = owner;
  }
  void begin(const Op& op, const Warp& warp, uint64_t base, uint32_t stride) {
    op_ = &op;
    warp_ = &warp;
    each_ = nullptr;
    owner_ = nullptr;
    base_ = base;
    stride_ = stride;
  }
  // An instruction that is no ordinary store: only how often it was executed can be asked.
  void begin(const Op& op, const Warp& warp) {
    begin(op, warp, nullptr);
    is_ordinary_ = false;
  }
  void end() {
    op_ = nullptr;
    is_ordinary_ = true;
  }

  // A watched instruction of the warp comes next; it is over.
  void watch(base::OpId instruction, const Warp& warp) {
    watched_ = instruction;
    watching_ = &warp;
  }
  void unwatch() { watching_ = nullptr; }

  bool store_keeps(uint64_t address, uint32_t bytes) const override;
  bool lanes_agree(uint64_t address, uint32_t bytes) const override;
  uint32_t execution() const override;

 private:
  bool is_store() const;
  uint64_t place(int lane) const {
    return each_ ? each_[lane] : base_ + static_cast<uint64_t>(lane) * stride_;
  }
  // Byte `address` as lane `lane` will leave it; nullopt if it does not write it.
  std::optional<std::byte> stored(int lane, uint64_t address) const;
  std::optional<std::byte> present(uint64_t address) const;

  base::OpId watched_;
  const Warp* watching_ = nullptr;
  const Op* op_ = nullptr;
  const Warp* warp_ = nullptr;
  const uint64_t* each_ = nullptr;
  Cta* owner_ = nullptr;
  uint64_t base_ = 0;
  uint32_t stride_ = 0;
  bool is_ordinary_ = true;
};

}  // namespace lw::machine
