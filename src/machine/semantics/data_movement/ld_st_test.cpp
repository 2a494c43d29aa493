// Loads and stores of all widths, spaces and shapes of addresses, by whole and divided warps.

#include <gtest/gtest.h>

#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

// The index, in elements, that each lane accesses.
struct Shape {
  const char* name;
  const char* code;  // %i from %t
  uint32_t (*index)(uint32_t lane);
};
const Shape kShapes[] = {
    {"contiguous", "mov.u32 %i, %t;", [](uint32_t t) { return t; }},
    {"shifted", "add.u32 %i, %t, 3;", [](uint32_t t) { return t + 3; }},
    {"uniform", "mov.u32 %i, 5;", [](uint32_t) { return 5u; }},
    {"strided", "shl.b32 %i, %t, 1;", [](uint32_t t) { return t * 2; }},
    {"reversed", "sub.u32 %i, 31, %t;", [](uint32_t t) { return 31 - t; }},
    {"paired", "shr.u32 %i, %t, 1;", [](uint32_t t) { return t / 2; }},
    {"broken late", "setp.eq.u32 %p, %t, 31; selp.u32 %i, 40, %t, %p;",
     [](uint32_t t) { return t == 31 ? 40u : t; }},
};

struct Lanes {
  const char* name;
  const char* skip;  // sets %p in the lanes that do not take part
  bool (*runs)(uint32_t lane);
};
const Lanes kLanes[] = {
    {"all", "setp.ne.u32 %p, %t, %t;", [](uint32_t) { return true; }},
    {"upper", "setp.lt.u32 %p, %t, 9;", [](uint32_t t) { return t >= 9; }},
    {"every third", "{ .reg .b32 %q; rem.u32 %q, %t, 3; setp.ne.u32 %p, %q, 0; }",
     [](uint32_t t) { return t % 3 == 0; }},
    {"one", "setp.ne.u32 %p, %t, 17;", [](uint32_t t) { return t == 17; }},
};

constexpr uint32_t kBytes = 2048;

std::string prologue(const Shape& shape, const Lanes& lanes, uint32_t element_bytes) {
  return std::string(R"(
.shared .align 16 .b8 s[2048];
.visible .entry k(.param .u64 out, .param .u64 in) {
  .reg .pred %p;
  .reg .b32 %t, %i, %sa, %k;
  .reg .b64 %in, %out, %ga, %off, %sw, %gen;
  mov.u32 %t, %tid.x;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
)") + shape.code +
         "\nmul.lo.u32 %k, %i, " + std::to_string(element_bytes) + R"(;
  cvt.u64.u32 %off, %k;
  mov.u32 %sa, s;
  add.u32 %sa, %sa, %k;
  add.u64 %ga, %in, %off;
  cvt.u64.u32 %sw, %sa;
  cvta.shared.u64 %gen, %sw;
)" + lanes.skip +
         "\n";
}

std::vector<uint32_t> numbers() {
  std::vector<uint32_t> words(kBytes / 4);
  for (uint32_t i = 0; i < words.size(); ++i) words[i] = 0x01020304u * (i + 1) ^ 0x80700060u;
  return words;
}

uint64_t element(const std::vector<uint32_t>& words, uint32_t index, uint32_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const char*>(words.data()) + index * bytes, bytes);
  return value;
}

uint64_t extended(uint64_t value, uint32_t bytes, bool is_signed, uint32_t register_bits) {
  if (is_signed && bytes < 8 && (value >> (8 * bytes - 1) & 1))
    value |= ~uint64_t{0} << (8 * bytes);
  return register_bits == 64 ? value : value & ((uint64_t{1} << register_bits) - 1);
}

struct Access {
  std::string type;
  uint32_t bytes;
  bool is_signed;
  uint32_t register_bits;
};
const Access kAccesses[] = {{"u8", 1, false, 16},  {"s8", 1, true, 16},  {"s8", 1, true, 32},
                            {"u16", 2, false, 16}, {"s16", 2, true, 32}, {"u16", 2, false, 64},
                            {"b32", 4, false, 32}, {"s32", 4, true, 64}, {"f32", 4, false, 32},
                            {"b64", 8, false, 64}};

TEST(LoadStore, GlobalLoads) {
  for (const Access& access : kAccesses) {
    for (const Shape& shape : kShapes) {
      for (const Lanes& lanes : kLanes) {
        std::string bits = std::to_string(access.register_bits);
        TestKernel test(prologue(shape, lanes, access.bytes) + ".reg .b" + bits +
                        " %v;\n.reg .b64 %w;\n" + "mov.b" + bits +
                        " %v, 77;\n@%p bra END;\nld.global." + access.type +
                        " %v, [%ga];\nEND: cvt.u64.u" + bits +
                        " %w, %v;\nmul.wide.u32 %off, %t, 8;\nadd.u64 %out, %out, %off;\n"
                        "st.global.b64 [%out], %w;\nret;\n}\n");
        test.buffer(64);
        test.buffer(kBytes / 4, numbers());
        auto out = test.run(1, 32).doubles(0);
        for (uint32_t t = 0; t < 32; ++t) {
          uint64_t value = extended(element(numbers(), shape.index(t), access.bytes), access.bytes,
                                    access.is_signed, access.register_bits);
          ASSERT_EQ(out[t], lanes.runs(t) ? value : 77u)
              << access.type << " " << shape.name << " " << lanes.name << " lane " << t;
        }
      }
    }
  }
}

// Stores to shared memory (by 32-bit, 64-bit and generic addresses), then reads it all back.
TEST(LoadStore, SharedStores) {
  for (const char* where : {"st.shared.%T [%sa]", "st.shared.%T [%sw]", "st.%T [%gen]"}) {
    for (const Access& access : kAccesses) {
      for (const Shape& shape : kShapes) {
        for (const Lanes& lanes : kLanes) {
          std::string store = where;
          store.replace(store.find("%T"), 2, access.type);
          std::string bits = std::to_string(access.register_bits);
          TestKernel test(prologue(shape, lanes, access.bytes) + ".reg .b" + bits +
                          " %v;\n.reg .b64 %w; .reg .b32 %x, %l;\ncvt.u" + bits +
                          ".u32 %v, %t;\n@%p bra END;\n" + store +
                          ", %v;\nEND:\nbar.sync 0;\nmov.u32 %l, 0;\nLOOP:\n" +
                          R"(
  mad.lo.u32 %k, %l, 32, %t;
  shl.b32 %k, %k, 2;
  mov.u32 %sa, s;
  add.u32 %sa, %sa, %k;
  ld.shared.u32 %x, [%sa];
  cvt.u64.u32 %off, %k;
  add.u64 %w, %out, %off;
  st.global.u32 [%w], %x;
  add.u32 %l, %l, 1;
  setp.lt.u32 %p, %l, 16;
  @%p bra LOOP;
  ret;
})");
          test.buffer(kBytes / 4);
          test.buffer(1);
          auto out = test.run(1, 32).words(0);
          std::vector<uint8_t> expected(kBytes, 0xa5);
          for (uint32_t t = 0; t < 32; ++t)
            if (lanes.runs(t)) {
              uint64_t value = t;
              std::memcpy(expected.data() + shape.index(t) * access.bytes, &value, access.bytes);
            }
          ASSERT_EQ(std::memcmp(out.data(), expected.data(), kBytes), 0)
              << store << " " << shape.name << " " << lanes.name;
        }
      }
    }
  }
}

TEST(LoadStore, Vectors) {
  for (const char* type : {"v2.b32", "v4.b32", "v2.b64", "v4.b16", "v4.b64", "v8.b32"}) {
    std::string text = type;
    uint32_t elements = static_cast<uint32_t>(text[1] - '0');
    uint32_t bits = static_cast<uint32_t>(std::stoi(text.substr(4)));
    for (const Lanes& lanes : kLanes) {
      std::string names;
      for (uint32_t i = 0; i < elements; ++i) names += (i ? ", %v" : "%v") + std::to_string(i);
      std::string declared = ".reg .b" + std::to_string(bits) + " " + names + ";\n";
      uint32_t bytes = elements * bits / 8;
      Shape shape = kShapes[0];
      TestKernel test(prologue(shape, lanes, bytes) + declared + "@%p bra END;\nld.global." + text +
                          " {" + names + "}, [%ga];\nadd.u64 %out, %out, %off;\nst.global." + text +
                          " [%out], {" + names + "};\nEND: ret;\n}\n",
                      {}, "sm_100a");
      test.buffer(kBytes / 4);
      test.buffer(kBytes / 4, numbers());
      auto out = test.run(1, 32).words(0);
      auto in = numbers();
      for (uint32_t t = 0; t < 32; ++t)
        for (uint32_t w = 0; w < bytes / 4; ++w)
          ASSERT_EQ(out[t * bytes / 4 + w], lanes.runs(t) ? in[t * bytes / 4 + w] : 0u)
              << type << " " << lanes.name << " lane " << t;
    }
  }
}

TEST(LoadStore, LocalMemoryIsPrivate) {
  TestKernel test(R"(
.visible .entry k(.param .u64 out) {
  .local .align 8 .b8 depot[64];
  .reg .b32 %t, %v, %w;
  .reg .b64 %out, %off, %SP, %SPL;
  mov.u64 %SPL, depot;
  cvta.local.u64 %SP, %SPL;
  mov.u32 %t, %tid.x;
  st.local.u32 [%SPL+8], %t;
  st.u32 [%SP+12], 100;
  ld.u32 %v, [%SP+8];
  ld.local.u32 %w, [%SPL+12];
  add.u32 %v, %v, %w;
  ld.param.u64 %out, [out];
  mul.wide.u32 %off, %t, 4;
  add.u64 %out, %out, %off;
  st.global.u32 [%out], %v;
  ret;
})");
  test.buffer(64);
  auto out = test.run(1, 64).words(0);
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t + 100);
}

TEST(LoadStore, ConstantsAndInitialisedVariables) {
  TestKernel test(R"(
.const .align 4 .u32 c[4] = {10, 20, 30, 40};
.global .align 8 .u64 pointer = generic(c);
.global .align 4 .b8 bytes[4] = {1, 2, 3, 4};
.visible .entry k(.param .u64 out) {
  .reg .b32 %t, %i, %v, %w;
  .reg .b64 %out, %off, %a, %p;
  mov.u32 %t, %tid.x;
  and.b32 %i, %t, 3;
  mul.wide.u32 %off, %i, 4;
  mov.u64 %a, c;
  add.u64 %a, %a, %off;
  ld.const.u32 %v, [%a];
  ld.const.u32 %w, [c+4];
  add.u32 %v, %v, %w;
  ld.global.u64 %p, [pointer];
  ld.u32 %w, [%p+8];
  add.u32 %v, %v, %w;
  ld.global.u32 %w, [bytes];
  add.u32 %v, %v, %w;
  ld.param.u64 %out, [out];
  mul.wide.u32 %off, %t, 4;
  add.u64 %out, %out, %off;
  st.global.u32 [%out], %v;
  ret;
})");
  test.buffer(32);
  auto out = test.run(1, 32).words(0);
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], 10 * (t % 4 + 1) + 20 + 30 + 0x04030201u);
}

TEST(LoadStore, DynamicSharedMemoryFollowsTheStatic) {
  TestKernel test(R"(
.shared .align 4 .b8 fixed[100];
.extern .shared .align 128 .b8 dynamic[];
.visible .entry k(.param .u64 out) {
  .reg .b32 %a, %b;
  .reg .b64 %out;
  mov.u32 %a, fixed;
  mov.u32 %b, dynamic;
  st.shared.u32 [%b+252], %a;
  ld.param.u64 %out, [out];
  st.global.v2.u32 [%out], {%a, %b};
  ret;
})");
  test.buffer(2);
  auto out = test.run(1, 1, 256).words(0);
  EXPECT_EQ(out[0], 1024u);
  EXPECT_EQ(out[1], 1024u + 128);
}

}  // namespace
}  // namespace lw::machine
