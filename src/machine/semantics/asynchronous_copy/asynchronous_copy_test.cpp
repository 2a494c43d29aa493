// Asynchronous copies: whole kernels, with and without the schedule holding copies back.

#include <gtest/gtest.h>

#include <functional>

#include "machine/tensor_map.h"
#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

// Performs asynchronous operations only when no warp can run: as late as can be.
class LateCopies final : public PlainOrder {
 public:
  Choice next(Machine& machine) override {
    if (!machine.any_ready()) return PlainOrder::next(machine);
    for (Cta* cta : machine.resident())
      if (cta->ready != 0) return {&cta->warps[static_cast<size_t>(std::countr_zero(cta->ready))]};
    return {};
  }
};

std::vector<uint32_t> iota(size_t count) {
  std::vector<uint32_t> words(count);
  for (size_t index = 0; index < count; ++index)
    words[index] = static_cast<uint32_t>(index * 7 + 1);
  return words;
}

// %t thread, %a shared address of 16 bytes of the thread, %x, %p in and out, 16 bytes a thread on.
std::string copy_kernel(const std::string& body) {
  return R"(.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %t, %a, %v<4>, %n;
  .reg .b64 %x, %p, %o, %s;
  .reg .pred %ok, %odd, %first;
  .shared .align 128 .b8 tile[4096];
  .shared .align 8 .b64 bar;
  ld.param.u64 %x, [in];
  ld.param.u64 %p, [out];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %first, %t, 0;
  and.b32 %n, %t, 1;
  setp.eq.u32 %odd, %n, 1;
  mul.wide.u32 %o, %t, 16;
  add.u64 %x, %x, %o;
  add.u64 %p, %p, %o;
  shl.b32 %n, %t, 4;
  mov.u32 %a, tile;
  add.u32 %a, %a, %n;
)" + body +
         R"(
  ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%a];
  st.global.v4.u32 [%p], {%v0, %v1, %v2, %v3};
  ret;
})";
}

void run_with(TestKernel& test, Policy& policy, uint32_t threads) {
  const RunResult& result = test.launch(test.request(1, threads), policy);
  ASSERT_TRUE(result.finished) << test.why();
}

template <class Check>
void both_schedules(const std::string& text, uint32_t threads, Check check) {
  PlainOrder plain;
  LateCopies late;
  for (Policy* policy : {static_cast<Policy*>(&plain), static_cast<Policy*>(&late)}) {
    TestKernel test(text);
    test.buffer(threads * 4, iota(threads * 4));
    test.buffer(threads * 4);
    run_with(test, *policy, threads);
    check(test.words(1));
  }
}

TEST(AsynchronousCopy, CpAsyncByGroups) {
  both_schedules(copy_kernel(R"(
  cp.async.ca.shared.global [%a], [%x], 8;
  cp.async.commit_group;
  cp.async.ca.shared.global [%a+8], [%x+8], 4;
  cp.async.ca.shared.global [%a+12], [%x+12], 4, 0;
  cp.async.commit_group;
  cp.async.wait_group 1;
  cp.async.wait_group 0;)"),
                 64, [](const std::vector<uint32_t>& out) {
                   for (uint32_t i = 0; i < out.size(); ++i)
                     EXPECT_EQ(out[i], i % 4 == 3 ? 0 : i * 7 + 1);
                 });
}

TEST(AsynchronousCopy, CpAsyncMayIgnoreTheSource) {
  both_schedules(copy_kernel(R"(
  cp.async.cg.shared.global [%a], [%x], 16, %odd;
  cp.async.wait_all;)"),
                 32, [](const std::vector<uint32_t>& out) {
                   for (uint32_t i = 0; i < out.size(); ++i)
                     EXPECT_EQ(out[i], i / 4 % 2 ? 0 : i * 7 + 1);
                 });
}

TEST(AsynchronousCopy, CpAsyncArrivesOnAnMbarrier) {
  for (const char* arrive : {"cp.async.mbarrier.arrive.noinc.shared.b64 [bar];",
                             "cp.async.mbarrier.arrive.shared.b64 [bar];\n"
                             "mbarrier.arrive.shared.b64 %s, [bar];"})
    both_schedules(copy_kernel(R"(
  @%first mbarrier.init.shared.b64 [bar], 64;
  bar.sync 0;
  cp.async.cg.shared.global [%a], [%x], 16;
  )" + std::string(arrive) + R"(
WAIT:
  mbarrier.try_wait.parity.shared.b64 %ok, [bar], 0;
  @!%ok bra WAIT;)"),
                   64, [](const std::vector<uint32_t>& out) { EXPECT_EQ(out, iota(256)); });
}

TEST(AsynchronousCopy, BulkLoadSignalsBytes) {
  both_schedules(copy_kernel(R"(
  @%first mbarrier.init.shared.b64 [bar], 1;
  bar.sync 0;
  @!%first bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%x], 512, [bar];
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile+512], [%x+512], 512, [bar];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %ok, [bar], 0;
  @!%ok bra WAIT;)"),
                 64, [](const std::vector<uint32_t>& out) { EXPECT_EQ(out, iota(256)); });
}

TEST(AsynchronousCopy, BulkStoreAndReduction) {
  const std::string text = R"(.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %t, %a, %v, %n;
  .reg .b64 %p;
  .reg .pred %first;
  .shared .align 16 .b8 tile[256];
  ld.param.u64 %p, [out];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %first, %t, 0;
  shl.b32 %n, %t, 2;
  mov.u32 %a, tile;
  add.u32 %a, %a, %n;
  st.shared.u32 [%a], %t;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%first ret;
  cp.async.bulk.global.shared::cta.bulk_group [%p], [tile], 256;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%p], [tile], 128;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
  ret;
})";
  both_schedules(text, 64, [](const std::vector<uint32_t>& out) {
    for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 32 ? 2 * i : i);
  });
}

// Bit i of the mask: byte i of every 16.
TEST(AsynchronousCopy, BulkStoreOfMaskedBytes) {
  TestKernel test(R"(.visible .entry k(.param .u64 out) {
  .reg .b16 %m;
  .reg .b64 %p;
  .shared .align 16 .b32 tile[8];
  ld.param.u64 %p, [out];
  st.shared.v4.u32 [tile], {0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c};
  st.shared.v4.u32 [tile+16], {0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c};
  fence.proxy.async.shared::cta;
  mov.b16 %m, 0x8c21;
  cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%p], [tile], 32, %m;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
})",
                  {}, "sm_100a");
  test.buffer(8, std::vector<uint32_t>(8, 0xffffffffu));
  test.launch(1, 1);
  EXPECT_EQ(test.words(0),
            (std::vector<uint32_t>{0xffffff00u, 0xffff05ffu, 0x0b0affffu, 0x0fffffffu, 0xffffff10u,
                                   0xffff15ffu, 0x1b1affffu, 0x1fffffffu}));
}

// A kernel whose first parameter is a tensor map of 16-bit elements.
std::string tile_kernel(const std::string& body) {
  return R"(.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out) {
  .reg .b32 %t, %v, %a, %n, %row;
  .reg .b64 %m, %p, %o;
  .reg .pred %ok, %first;
  .shared .align 1024 .b8 tile[1024];
  .shared .align 8 .b64 bar;
  ld.param.u64 %p, [out];
  mov.b64 %m, map;
  cvta.param.u64 %m, %m;
  mov.u32 %t, %tid.x;
  setp.eq.u32 %first, %t, 0;
  @%first mbarrier.init.shared.b64 [bar], 1;
  bar.sync 0;
)" + body +
         R"(
  shl.b32 %n, %t, 2;
  mov.u32 %a, tile;
  add.u32 %a, %a, %n;
  ld.shared.u32 %v, [%a];
  mul.wide.u32 %o, %t, 4;
  add.u64 %p, %p, %o;
  st.global.u32 [%p], %v;
  ret;
})";
}

const char* kLoadTile = R"(
  mov.u32 %row, 2;
  @!%first bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%m, {8, %row}], [bar];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %ok, [bar], 0;
  @!%ok bra WAIT;)";

TEST(AsynchronousCopy, TensorTileIsSwizzledAndFilled) {
  TestKernel test(tile_kernel(kLoadTile));
  // 4 rows of 32 elements; the box of 64 x 4 at (8, 2) has 24 columns and 2 rows inside.
  TensorMap map;
  map.type = TensorType::u16;
  map.rank = 2;
  map.dims = {32, 4, 1, 1, 1};
  map.strides_bytes = {64, 0, 0, 0};
  map.box = {64, 4, 1, 1, 1};
  map.swizzle = Swizzle::b128;
  const BufferId in = test.machine().memory().add_buffer("in", 256);
  map.address = test.machine().memory().buffer(in).address;
  const std::vector<uint32_t> words = iota(64);
  std::memcpy(test.machine().memory().bytes(in).data(), words.data(), 256);
  test.parameter(encode_tensor_map(map));
  test.buffer(128);
  test.run(1, 128);
  const std::vector<uint32_t> out = test.words(0);
  for (uint32_t word = 0; word < 128; ++word) {
    const uint32_t row = word / 32, chunk = (word / 4 % 8) ^ row, column = chunk * 4 + word % 4;
    const bool inside = row < 2 && column < 12;
    EXPECT_EQ(out[word], inside ? words[(row + 2) * 16 + column + 4] : 0) << word;
  }
}

std::string tensor_fault(const std::function<void(TensorMapBytes&)>& damage,
                         const std::string& body) {
  TestKernel test(tile_kernel(body));
  TensorMap map;
  map.type = TensorType::u16;
  map.rank = 2;
  map.dims = {32, 4, 1, 1, 1};
  map.strides_bytes = {64, 0, 0, 0};
  map.box = {64, 4, 1, 1, 1};
  const BufferId in = test.machine().memory().add_buffer("in", 256);
  map.address = test.machine().memory().buffer(in).address;
  TensorMapBytes bytes = encode_tensor_map(map);
  damage(bytes);
  test.parameter(bytes);
  test.buffer(128);
  const RunResult& result = test.launch(1, 32);
  return result.fault ? result.fault->text : test.why();
}

TEST(AsynchronousCopy, TensorMisuseIsAFault) {
  const auto whole = [](TensorMapBytes&) {};
  EXPECT_EQ(tensor_fault([](TensorMapBytes& bytes) { bytes[8] |= 0x70; }, kLoadTile),
            "not a tensor map: rank 8 is not 1 to 5");
  EXPECT_EQ(tensor_fault([](TensorMapBytes& bytes) { bytes[8] &= 0x8f; }, kLoadTile),
            "the copy is of 2 dimensions, the tensor map of 1");
  EXPECT_EQ(tensor_fault(whole, R"(
  mov.u32 %row, 3;
  @%first cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%m, {%row, 0}], [bar];)"),
            "coordinate 3 of dimension 0 is not at a multiple of 16 bytes");
  EXPECT_EQ(tensor_fault(whole, R"(
  mov.u32 %row, -1;
  @%first cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m, {8, %row}], [tile];)"),
            "a store starts at coordinate -1 of dimension 1");
  EXPECT_EQ(tensor_fault([](TensorMapBytes& bytes) { bytes[36] = 200; }, R"(
  mov.u32 %row, 100;
  @%first cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%m, {8, %row}], [bar];)"),
            "outside every buffer");
}

std::string fault_of(const std::string& body) {
  TestKernel test(copy_kernel("@%first mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;\n" + body));
  test.buffer(128, iota(128));
  test.buffer(128);
  const RunResult& result = test.launch(1, 32);
  return result.fault ? result.fault->text : "";
}

TEST(AsynchronousCopy, MisuseIsAFault) {
  EXPECT_EQ(fault_of("cp.async.ca.shared.global [%a+2], [%x], 4;"), "not a multiple of 4");
  EXPECT_EQ(fault_of("cp.async.ca.shared.global [%a], [%x+4096], 4;"), "outside every buffer");
  EXPECT_EQ(fault_of("@%first cp.async.bulk.global.shared::cta.bulk_group [%p], [tile], 24;"),
            "the size of 24 bytes is not a multiple of 16");
  EXPECT_EQ(fault_of("@%first cp.async.bulk.global.shared::cta.bulk_group [%p], [tile+8], 16;"),
            "not a multiple of 16");
  EXPECT_EQ(fault_of("@%first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                     "[tile], [%x], 16, [tile];"),
            "no valid mbarrier object is there");
  EXPECT_EQ(fault_of("@%first cp.async.ca.shared.global [bar], [%x], 4;"),
            "the mbarrier object at shared address 0x1400: a copy writes over it (phase 0, 1 of 1 "
            "arrivals pending, 0 bytes pending)");
}

}  // namespace
}  // namespace lw::machine
