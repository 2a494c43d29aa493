// membar, fence, and the proxy fences (PTX: Parallel Synchronization and Communication
// Instructions, membar / fence). The machine performs memory operations in order, so a fence has
// nothing to do here but to tell the order engine.
//
// Two proxies that we do not tell apart need no event: aliases of one place in virtual memory do
// not exist here. The fences of the tensormap proxy do their work, which is none; the order engine
// does not know that proxy, so with one listening they are `not analysed`. The one-directional ones
// are not modelled.

#include "machine/dispatch.h"
#include "machine/semantics/bind.h"
#include "machine/warp.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using order::FenceKind;
using order::FenceSpaces;
using order::Scope;
using ptx::Mod;

// Op: detail the kind and the scope, or the spaces.
void run_fence(const Op& op, Warp& warp) {
  if (!warp.order) return;
  warp.order->fence(*warp.order_warp, op.instruction, warp.active,
                    static_cast<FenceKind>(op.detail & 0xff), static_cast<Scope>(op.detail >> 8));
}

void run_proxy_fence(const Op& op, Warp& warp) {
  if (warp.order)
    warp.order->fence_proxy_async(*warp.order_warp, warp.active,
                                  static_cast<FenceSpaces>(op.detail));
}

void run_mbarrier_init_fence(const Op&, Warp& warp) {
  if (warp.order) warp.order->fence_mbarrier_init(*warp.order_warp, warp.active);
}

void run_tensormap_fence(const Op& op, Warp& warp) {
  if (warp.order) warp.not_analysed(op, "the order of the tensormap proxy");
}

void run_nothing(const Op&, Warp&) {}

FenceKind kind_of(const Decoder& decoder) {
  if (decoder.has(Mod::sc)) return FenceKind::kSc;
  if (decoder.has(Mod::acquire)) return FenceKind::kAcquire;
  return decoder.has(Mod::release) ? FenceKind::kRelease : FenceKind::kAcqRel;
}

Scope scope_of(const Decoder& decoder) {
  if (decoder.has(Mod::cta)) return Scope::kCta;
  if (decoder.has(Mod::cluster)) return Scope::kCluster;
  return decoder.has(Mod::sys) ? Scope::kSys : Scope::kGpu;
}

void bind_ordinary(Decoder& decoder, FenceKind kind, Scope scope) {
  decoder.emit(plain_handlers<run_fence>).detail =
      static_cast<uint16_t>(static_cast<uint32_t>(kind) | static_cast<uint32_t>(scope) << 8);
}

void bind_async(Decoder& decoder, FenceSpaces spaces) {
  decoder.emit(plain_handlers<run_proxy_fence>).detail = static_cast<uint16_t>(spaces);
}

void bind_proxy(Decoder& decoder) {
  if (decoder.has(Mod::async)) return bind_async(decoder, FenceSpaces::kAll);
  decoder.emit(plain_handlers<run_nothing>);
}

}  // namespace

void bind_fence(Decoder& decoder) { bind_ordinary(decoder, kind_of(decoder), scope_of(decoder)); }
// membar.cta, .gl and .sys are fence.sc at those scopes.
void bind_membar(Decoder& decoder) { bind_ordinary(decoder, FenceKind::kSc, scope_of(decoder)); }
void bind_fence_mbarrier_init(Decoder& decoder) {
  decoder.emit(plain_handlers<run_mbarrier_init_fence>);
}
void bind_fence_proxy(Decoder& decoder) { bind_proxy(decoder); }
void bind_fence_proxy_tensormap_release(Decoder& decoder) {
  decoder.emit(plain_handlers<run_tensormap_fence>);
}
void bind_fence_proxy_tensormap_acquire(Decoder& decoder) {
  decoder.emit(plain_handlers<run_tensormap_fence>);
}
void bind_membar_proxy(Decoder& decoder) { bind_proxy(decoder); }
void bind_fence_proxy_async_space(Decoder& decoder) {
  bind_async(decoder, decoder.has(Mod::global) ? FenceSpaces::kGlobal : FenceSpaces::kShared);
}

}  // namespace lw::machine
