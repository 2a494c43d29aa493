// cp.async.commit_group, wait_group, wait_all and the same of cp.async.bulk (PTX: Data Movement,
// async-group mechanism).
//
// The lanes that run a wait together wait together: their copies finish whether or not they run, so
// nothing is lost. Lanes that wait go on at the moment the last copy they ask for is done.

#include "machine/semantics/asynchronous_copy/group_wait.h"

#include <fmt/format.h>

#include "machine/dispatch.h"
#include "machine/machine.h"
#include "machine/semantics/bind.h"
#include "machine/sync_hooks.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using base::LaneMask;

// Op: immediate the number of groups that may be left, detail the GroupWait.

bool is_over(const Warp& warp, LaneMask lanes, GroupWait what, uint64_t left) {
  const WarpSyncState& sync = warp.sync;
  if (left == kWaitForAll) return sync.copies.is_idle(lanes);
  const auto newest = static_cast<uint32_t>(left);
  switch (what) {
    case GroupWait::copies:
      return sync.copies.is_done(lanes, newest, CopyPart::writes);
    case GroupWait::bulk_reads:
      return sync.bulk_copies.is_done(lanes, newest, CopyPart::reads);
    case GroupWait::bulk_writes:
      return sync.bulk_copies.is_done(lanes, newest, CopyPart::writes);
  }
  return true;
}

void tell_order(Warp& warp, LaneMask lanes, GroupWait what, uint64_t left) {
  if (!warp.order) return;
  if (left == kWaitForAll) return warp.order->cp_async_wait_all(*warp.order_warp, lanes);
  const auto newest = static_cast<uint32_t>(left);
  if (what == GroupWait::copies) return warp.order->cp_async_wait(*warp.order_warp, lanes, newest);
  warp.order->bulk_wait(*warp.order_warp, lanes, newest, what == GroupWait::bulk_reads);
}

const Op* run_wait(const Op& op, Warp& warp) {
  const auto what = static_cast<GroupWait>(op.detail);
  if (op.immediate == kWaitForAll) warp.sync.copies.commit(warp.active);
  if (!is_over(warp, warp.active, what, op.immediate)) {
    warp.block(&op, {Wait::Kind::async_group, op.detail, op.immediate, op.instruction});
    return nullptr;
  }
  tell_order(warp, warp.active, what, op.immediate);
  return &op + 1;
}

void run_commit(const Op&, Warp& warp) {
  warp.sync.copies.commit(warp.active);
  if (warp.order) warp.order->cp_async_commit(*warp.order_warp, warp.active);
}

void run_bulk_commit(const Op&, Warp& warp) {
  warp.sync.bulk_copies.commit(warp.active);
  if (warp.order) warp.order->bulk_commit(*warp.order_warp, warp.active);
}

void release(Warp& warp) {
  warp.wake_if([&](Group& group) {
    if (group.wait.kind != Wait::Kind::async_group) return false;
    const auto what = static_cast<GroupWait>(group.wait.object);
    if (!is_over(warp, group.lanes, what, group.wait.phase)) return false;
    tell_order(warp, group.lanes, what, group.wait.phase);
    ++group.at;
    return true;
  });
}

void bind_wait(Decoder& decoder, GroupWait what, uint64_t left) {
  Op& op = decoder.emit(control_handlers<run_wait>);
  op.detail = static_cast<uint16_t>(what);
  op.immediate = left;
}

uint64_t groups_left(const Decoder& decoder) {
  return static_cast<uint32_t>(decoder.operand(0).value);
}

}  // namespace

void copies_done(Warp& warp, const void* operation, CopyPart part) {
  warp.sync.copies.done(operation, part);
  release(warp);
}

void bulk_copies_done(Warp& warp, const void* operation, CopyPart part) {
  warp.sync.bulk_copies.done(operation, part);
  release(warp);
}

void bind_cp_async_commit_group(Decoder& decoder) { decoder.emit(plain_handlers<run_commit>); }
void bind_cp_async_wait_group(Decoder& decoder) {
  bind_wait(decoder, GroupWait::copies, groups_left(decoder));
}
void bind_cp_async_wait_all(Decoder& decoder) {
  bind_wait(decoder, GroupWait::copies, kWaitForAll);
}
void bind_cp_async_bulk_commit_group(Decoder& decoder) {
  decoder.emit(plain_handlers<run_bulk_commit>);
}
void bind_cp_async_bulk_wait_group(Decoder& decoder) {
  bind_wait(decoder, decoder.has(ptx::Mod::read) ? GroupWait::bulk_reads : GroupWait::bulk_writes,
            groups_left(decoder));
}

std::string describe_async_group(const Warp& warp, const Group& group) {
  const auto what = static_cast<GroupWait>(group.wait.object);
  const uint32_t unfinished = what == GroupWait::copies ? warp.sync.copies.unfinished()
                                                        : warp.sync.bulk_copies.unfinished();
  return fmt::format("{} asynchronous copies of its warp are not done", unfinished);
}

}  // namespace lw::machine
