#include "machine/special_registers.h"

#include "machine/cta.h"
#include "machine/machine.h"

namespace lw::machine {
namespace {

using ptx::SpecialRegister;

Dim3 thread_position(const Warp& warp, uint32_t lane) {
  Dim3 block = warp.cta->launch->request.block;
  uint32_t thread = warp.id.value * base::kWarpSize + lane;
  return {thread % block.x, thread / block.x % block.y, thread / block.x / block.y};
}

Dim3 divide(Dim3 a, Dim3 b) { return {a.x / b.x, a.y / b.y, a.z / b.z}; }
Dim3 modulo(Dim3 a, Dim3 b) { return {a.x % b.x, a.y % b.y, a.z % b.z}; }

bool is_between(SpecialRegister special, SpecialRegister first, SpecialRegister last) {
  return special >= first && special <= last;
}

// The component of a vector register: they are numbered behind it.
uint64_t component(Dim3 value, SpecialRegister special, SpecialRegister x) {
  uint32_t index = static_cast<uint32_t>(special) - static_cast<uint32_t>(x);
  return index == 0 ? value.x : index == 1 ? value.y : value.z;
}

uint64_t lane_mask(SpecialRegister special, uint32_t lane) {
  uint32_t self = 1u << lane;
  switch (special) {
    case SpecialRegister::lanemask_eq:
      return self;
    case SpecialRegister::lanemask_lt:
      return self - 1;
    case SpecialRegister::lanemask_le:
      return self | (self - 1);
    case SpecialRegister::lanemask_ge:
      return ~(self - 1);
    default:
      return ~(self | (self - 1));
  }
}

uint64_t scalar(const Warp& warp, SpecialRegister special, uint32_t lane) {
  const Cta& cta = *warp.cta;
  const LaunchRequest& request = cta.launch->request;
  switch (special) {
    case SpecialRegister::laneid:
      return lane;
    case SpecialRegister::nwarpid:
      return Residency::kWarps;
    case SpecialRegister::nsmid:
      return cta.machine->sm_count();
    case SpecialRegister::gridid:
      return cta.launch->id.value + 1;
    case SpecialRegister::envreg1:
      return request.grid_workspace >> 32;
    case SpecialRegister::envreg2:
      return request.grid_workspace & 0xffffffffu;
    case SpecialRegister::is_explicit_cluster:
      return request.cluster.count() > 1;
    case SpecialRegister::cluster_ctarank:
      return cta.cluster_rank;
    case SpecialRegister::cluster_nctarank:
      return request.cluster.count();
    case SpecialRegister::dynamic_smem_size:
      return request.dynamic_shared_bytes;
    case SpecialRegister::total_smem_size:
    case SpecialRegister::aggr_smem_size:
      return cta.shared.size();
    case SpecialRegister::reserved_smem_offset_end:
    case SpecialRegister::reserved_smem_offset_cap:
      return program::kSharedBase;
    default:
      return 0;
  }
}

// Threads follow each other along x, then y, then z: no division for each of them.
LaneValues component_of_threads(const Warp& warp, SpecialRegister special) {
  const Dim3 block = warp.cta->launch->request.block;
  Dim3 at = thread_position(warp, 0);
  LaneValues values;
  for (uint64_t& value : values) {
    value = component(at, special, SpecialRegister::tid_x);
    if (++at.x < block.x) continue;
    at.x = 0;
    if (++at.y < block.y) continue;
    at.y = 0;
    ++at.z;
  }
  return values;
}

}  // namespace

uint64_t read_special(const Warp& warp, SpecialRegister special, uint32_t lane) {
  using S = SpecialRegister;
  const Cta& cta = *warp.cta;
  const LaunchRequest& request = cta.launch->request;
  if (is_between(special, S::tid_x, S::tid_z))
    return component(thread_position(warp, lane), special, S::tid_x);
  if (is_between(special, S::ntid_x, S::ntid_z))
    return component(request.block, special, S::ntid_x);
  if (is_between(special, S::ctaid_x, S::ctaid_z))
    return component(cta.position, special, S::ctaid_x);
  if (is_between(special, S::nctaid_x, S::nctaid_z))
    return component(request.grid, special, S::nctaid_x);
  if (is_between(special, S::clusterid_x, S::clusterid_z))
    return component(divide(cta.position, request.cluster), special, S::clusterid_x);
  if (is_between(special, S::nclusterid_x, S::nclusterid_z))
    return component(divide(request.grid, request.cluster), special, S::nclusterid_x);
  if (is_between(special, S::cluster_ctaid_x, S::cluster_ctaid_z))
    return component(modulo(cta.position, request.cluster), special, S::cluster_ctaid_x);
  if (is_between(special, S::cluster_nctaid_x, S::cluster_nctaid_z))
    return component(request.cluster, special, S::cluster_nctaid_x);
  if (is_between(special, S::lanemask_eq, S::lanemask_gt)) return lane_mask(special, lane);
  return scalar(warp, special, lane);
}

LaneValues read_special(const Warp& warp, SpecialRegister special) {
  using S = SpecialRegister;
  if (is_between(special, S::tid_x, S::tid_z)) return component_of_threads(warp, special);
  LaneValues values;
  values.fill(read_special(warp, special, 0));
  if (special != S::laneid && !is_between(special, S::lanemask_eq, S::lanemask_gt)) return values;
  for (uint32_t lane = 1; lane < values.size(); ++lane)
    values[lane] = read_special(warp, special, lane);
  return values;
}

uint64_t read_dynamic_special(Warp& warp, SpecialRegister special) {
  switch (special) {
    case SpecialRegister::smid:
      return warp.cta->sm;
    case SpecialRegister::warpid:
      return warp.id.value;
    case SpecialRegister::clock_hi:
    case SpecialRegister::globaltimer_hi:
      return warp.machine->virtual_time() >> 32;
    default:
      return warp.machine->virtual_time();
  }
}

}  // namespace lw::machine
