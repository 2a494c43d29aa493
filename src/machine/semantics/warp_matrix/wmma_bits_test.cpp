// wmma.mma on any bits: as mma.sync on the same registers.

#include <gtest/gtest.h>

#include <bit>

#include "arith/formats.h"
#include "machine/semantics/warp_matrix/warp_registers.h"

namespace lw::machine {
namespace {

Registers part(const Registers& all, size_t first, size_t count) {
  return {all.begin() + static_cast<ptrdiff_t>(first),
          all.begin() + static_cast<ptrdiff_t>(first + count)};
}

Registers run_mma(const std::string& shape, const std::string& types, const Registers& a,
                  const Registers& b, const Registers& c) {
  return run_warp(fmt::format("mma.sync.aligned.{}.row.col.{} {}, {}, {}, {};", shape, types,
                              names("d", c.size()), names("a", a.size()), names("b", b.size()),
                              names("c", c.size())),
                  c.size(), {a, b, c});
}

// Two tiles one after the other; the operand that is not along them is shared.
Registers run_tiles(const std::string& shape, const std::string& types, const Registers& a,
                    const Registers& b, const Registers& c, bool over_rows) {
  Registers d;
  for (size_t tile = 0; tile < 2; ++tile) {
    const Registers of_a = over_rows ? part(a, tile * a.size() / 2, a.size() / 2) : a;
    const Registers of_b = over_rows ? b : part(b, tile * b.size() / 2, b.size() / 2);
    const Registers tiles =
        run_mma(shape, types, of_a, of_b, part(c, tile * c.size() / 2, c.size() / 2));
    d.insert(d.end(), tiles.begin(), tiles.end());
  }
  return d;
}

Registers copied(const Registers& few, size_t count) {
  Registers all;
  while (all.size() < count) all.insert(all.end(), few.begin(), few.end());
  return all;
}

Registers run_wmma(const std::string& shape, const std::string& types, const Registers& a,
                   const Registers& b, const Registers& c, size_t results) {
  return run_warp(fmt::format("wmma.mma.sync.aligned.row.col.{}.{} {}, {}, {}, {};", shape, types,
                              names("d", results), names("a", a.size()), names("b", b.size()),
                              names("c", c.size())),
                  results, {a, b, c});
}

TEST(Wmma, AnyBitsAreThoseOfMma) {
  for (uint64_t seed = 1; seed < 20; ++seed) {
    Words words(seed);
    const Registers four = words.registers(4), c = words.registers(8), h = words.registers(4);
    const Registers two = part(four, 0, 2), wide = words.registers(8);
    const std::string mma = "m16n8k16", f32 = "f32.f16.f16.f32", f16 = "f16.f16.f16.f16";
    EXPECT_EQ(run_wmma("m16n16k16", "f32.f32", copied(four, 8), copied(four, 8), c, 8),
              run_tiles(mma, f32, four, four, c, false));
    EXPECT_EQ(run_wmma("m16n16k16", "f16.f16", copied(four, 8), copied(four, 8), h, 4),
              run_tiles(mma, f16, four, four, h, false));
    EXPECT_EQ(run_wmma("m32n8k16", "f32.f32", wide, copied(two, 8), c, 8),
              run_tiles(mma, f32, wide, two, c, true));
    EXPECT_EQ(run_wmma("m8n32k16", "f32.f32", copied(two, 8), wide, c, 8),
              run_tiles(mma, f32, wide, two, c, true));
    // tf32 in two steps along K.
    const std::string tf32 = "f32.tf32.tf32.f32";
    const Registers half =
        run_tiles("m16n8k4", tf32, part(four, 0, 2), {four[0], four[2]}, c, false);
    EXPECT_EQ(run_wmma("m16n16k8", tf32, four, four, c, 8),
              run_tiles("m16n8k4", tf32, part(four, 2, 2), {four[1], four[3]}, half, false));
    EXPECT_EQ(run_wmma("m8n32k16", "s32.u8.s8.s32.satfinite", part(four, 0, 1), four, c, 8),
              run_tiles(mma, "satfinite.s32.s8.u8.s32", four, part(four, 0, 1), c, true));
  }
}

TEST(Wmma, MixedAccumulatorsAreSummedInF32) {
  for (uint64_t seed = 1; seed < 20; ++seed) {
    Words words(seed);
    const Registers four = words.registers(4), wide = words.registers(8), h = words.registers(4);
    const auto each_half = [](const Registers& halves) {
      Registers all(8);
      for (size_t element = 0; element < 8; ++element)
        for (size_t lane = 0; lane < 32; ++lane)
          all[element][lane] = std::bit_cast<uint32_t>(arith::f32_from_f16(
              static_cast<uint16_t>(halves[element / 2][lane] >> (16 * (element % 2)))));
      return all;
    };
    const auto sum = [&](const Registers& c) {
      return run_tiles("m16n8k16", "f32.f16.f16.f32", four, four, c, false);
    };
    const Registers eight = copied(four, 8);
    EXPECT_EQ(run_wmma("m16n16k16", "f32.f16", eight, eight, h, 8), sum(each_half(h)));
    const Registers exact = sum(wide),
                    rounded = run_wmma("m16n16k16", "f16.f32", eight, eight, wide, 4);
    for (size_t element = 0; element < 8; ++element)
      for (size_t lane = 0; lane < 32; ++lane)
        EXPECT_EQ(rounded[element / 2][lane] >> (16 * (element % 2)) & 0xffff,
                  arith::f16_from_f32(std::bit_cast<float>(exact[element][lane]), {}));
  }
}

}  // namespace
}  // namespace lw::machine
