// What the order engine costs: warp accesses by shape, and synchronisation. The second argument of
// an access is how many accesses share a release epoch; each further one of the same shape is
// "repeated".

#include <benchmark/benchmark.h>

#include "order/engine.h"

namespace {

using namespace lw::order;

constexpr CtaId kCta{0};
constexpr uint64_t kBuffer = 1 << 20;
constexpr uint32_t kShared = 64 << 10;
constexpr Mbarrier kObject{kCta, kShared};

struct Stage {
  Stage() : engine(Options{}) {
    engine.declare_buffer(kBuffer, 64 << 20);
    engine.begin_grid(GridId{0}, {});
    engine.begin_cta(kCta, GridId{0}, 1024, kShared + 8);
    for (uint64_t at = 0; at < kShared; at += 128) {
      engine.write_contiguous(warp(0), OpId{0}, kAllLanes, Space::kShared, at, 4);
    }
    engine.warp_sync(warp(0), OpId{1}, kAllLanes);
  }
  Warp& warp(uint16_t index) { return engine.warp(kCta, WarpId{index}); }
  void barrier(uint16_t warps) {
    for (uint16_t i = 0; i < warps; ++i) {
      engine.barrier_arrive(warp(i), OpId{2}, BarrierId{1}, BarrierKind::kSync, kAllLanes);
    }
    engine.barrier_complete(kCta, BarrierId{1});
  }
  Engine engine;
};

// A new epoch before every `per_epoch` accesses.
template <class Touch>
void accesses(benchmark::State& state, Touch touch) {
  Stage stage;
  const int64_t per_epoch = state.range(0);
  int64_t left = 0;
  uint64_t i = 0;
  for (auto _ : state) {
    if (left-- == 0) {
      stage.engine.warp_sync(stage.warp(0), OpId{1}, kAllLanes);
      left = per_epoch - 1;
    }
    touch(stage, i++);
  }
}

void contiguous_write(benchmark::State& state) {
  const auto bytes = static_cast<uint32_t>(state.range(1));
  accesses(state, [&](Stage& stage, uint64_t i) {
    stage.engine.write_contiguous(stage.warp(0), OpId{3}, kAllLanes, Space::kShared,
                                  i % 16 * 32 * bytes, bytes);
  });
}

void contiguous_read(benchmark::State& state) {
  const auto bytes = static_cast<uint32_t>(state.range(1));
  accesses(state, [&](Stage& stage, uint64_t i) {
    stage.engine.read_contiguous(stage.warp(0), OpId{4}, kAllLanes, Space::kShared,
                                 i % 16 * 32 * bytes, bytes);
  });
}

void broadcast_read(benchmark::State& state) {
  accesses(state, [&](Stage& stage, uint64_t i) {
    stage.engine.read_uniform(stage.warp(0), OpId{5}, kAllLanes, Space::kShared, i % 16 * 128, 4);
  });
}

void shifted_read(benchmark::State& state) {
  accesses(state, [&](Stage& stage, uint64_t i) {
    stage.engine.read_contiguous(stage.warp(0), OpId{6}, kAllLanes, Space::kShared,
                                 i % 16 * 128 + 4, 4);
  });
}

void strided(benchmark::State& state, Kind kind) {
  uint32_t address[kWarpSize];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    address[lane] = lane * static_cast<uint32_t>(state.range(1));
  }
  Access access;
  access.op = OpId{7};
  access.kind = kind;
  access.at = Addresses::each32(address);
  accesses(state, [&](Stage& stage, uint64_t) { stage.engine.access(stage.warp(0), access); });
}

void matrix_read(benchmark::State& state) {
  uint32_t rows[kWarpSize];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) rows[lane] = lane * 128 + lane % 8 * 16;
  accesses(state, [&](Stage& stage, uint64_t) {
    stage.engine.matrix_rows(stage.warp(0), OpId{8}, kAllLanes, kAllLanes, rows, 16, Kind::kRead);
  });
}

void warp_sync(benchmark::State& state) {
  Stage stage;
  const auto lanes = static_cast<LaneMask>(state.range(0));
  for (auto _ : state) stage.engine.warp_sync(stage.warp(0), OpId{1}, lanes);
}

void named_barrier(benchmark::State& state) {
  Stage stage;
  for (auto _ : state) stage.barrier(static_cast<uint16_t>(state.range(0)));
}

// One phase of sixteen warps that all arrive and all wait; the time is of one warp.
void mbarrier_phase(benchmark::State& state) {
  Stage stage;
  stage.engine.mbarrier_init(stage.warp(0), OpId{9}, 1, kObject);
  stage.barrier(32);
  for (auto _ : state) {
    for (uint16_t i = 0; i < 16; ++i) {
      stage.engine.mbarrier_arrive(stage.warp(i), OpId{10}, kAllLanes, kObject, Strength::kRelease,
                                   Scope::kCta);
    }
    stage.engine.mbarrier_complete(kObject);
    for (uint16_t i = 0; i < 16; ++i) {
      stage.engine.mbarrier_wait(stage.warp(i), OpId{11}, kAllLanes, kObject, Strength::kAcquire,
                                 Scope::kCta);
    }
  }
}

BENCHMARK(contiguous_write)->ArgsProduct({{16, 1 << 30}, {4, 16}});
BENCHMARK(contiguous_read)->ArgsProduct({{16, 1 << 30}, {4, 16}});
BENCHMARK(broadcast_read)->Arg(16)->Arg(1 << 30);
BENCHMARK(shifted_read)->Arg(16)->Arg(1 << 30);
BENCHMARK_CAPTURE(strided, write, Kind::kWrite)->ArgsProduct({{1 << 30}, {8, 128, 132}});
BENCHMARK_CAPTURE(strided, read, Kind::kRead)->ArgsProduct({{1 << 30}, {8, 128, 132}});
BENCHMARK(matrix_read)->Arg(16)->Arg(1 << 30);
BENCHMARK(warp_sync)->Arg(-1)->Arg(0xffff);
BENCHMARK(named_barrier)->Arg(4)->Arg(16)->Arg(32);
BENCHMARK(mbarrier_phase);

}  // namespace
