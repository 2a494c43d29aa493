// The rows of integer and bit instructions (ptx_operations.h).

#include <utility>

#include "arith/integer.h"
#include "arith/ptx_operations.h"

namespace lw::arith {
namespace {

void word_row(PtxOperations& t, std::string ptx, int operands,
              std::function<uint32_t(uint32_t, uint32_t, uint32_t)> run) {
  t.push_back({std::move(ptx), "r" + std::string(operands, 'r'),
               [run](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
                 return run(u32(a), u32(b), u32(c));
               }});
}

void add_integer_rows(PtxOperations& t) {
  for (bool wrap : {false, true}) {
    std::string mode = wrap ? ".wrap" : ".clamp";
    word_row(t, "shf.l" + mode + ".b32", 3,
             [=](auto a, auto b, auto c) { return shf_l(a, b, c, wrap); });
    word_row(t, "shf.r" + mode + ".b32", 3,
             [=](auto a, auto b, auto c) { return shf_r(a, b, c, wrap); });
    word_row(t, "bmsk" + mode + ".b32", 2, [=](auto a, auto b, auto) { return bmsk(a, b, wrap); });
    word_row(t, "szext" + mode + ".u32", 2,
             [=](auto a, auto b, auto) { return szext<uint32_t>(a, b, wrap); });
    word_row(t, "szext" + mode + ".s32", 2, [=](auto a, auto b, auto) {
      return static_cast<uint32_t>(szext<int32_t>(static_cast<int32_t>(a), b, wrap));
    });
  }
  word_row(t, "shl.b32", 2, [](auto a, auto b, auto) { return shl(a, b); });
  word_row(t, "shr.u32", 2, [](auto a, auto b, auto) { return shr(a, b); });
  word_row(t, "shr.s32", 2,
           [](auto a, auto b, auto) { return static_cast<uint32_t>(shr(s32(a), b)); });
  word_row(t, "bfe.u32", 3, [](auto a, auto b, auto c) { return bfe(a, b, c); });
  word_row(t, "bfe.s32", 3,
           [](auto a, auto b, auto c) { return static_cast<uint32_t>(bfe(s32(a), b, c)); });
  word_row(t, "brev.b32", 1, [](auto a, auto, auto) { return brev(a); });
  word_row(t, "clz.b32", 1, [](auto a, auto, auto) { return clz(a); });
  word_row(t, "popc.b32", 1, [](auto a, auto, auto) { return popc(a); });
  word_row(t, "bfind.u32", 1, [](auto a, auto, auto) { return bfind(a, false); });
  word_row(t, "bfind.s32", 1, [](auto a, auto, auto) { return bfind(s32(a), false); });
  word_row(t, "bfind.shiftamt.u32", 1, [](auto a, auto, auto) { return bfind(a, true); });
  word_row(t, "bfind.shiftamt.s32", 1, [](auto a, auto, auto) { return bfind(s32(a), true); });
  word_row(t, "fns.b32", 3, [](auto a, auto b, auto c) { return fns(a, b, s32(c)); });
  const std::pair<const char*, PrmtMode> kModes[] = {
      {"", PrmtMode::kDefault},  {".f4e", PrmtMode::kF4e}, {".b4e", PrmtMode::kB4e},
      {".rc8", PrmtMode::kRc8},  {".ecl", PrmtMode::kEcl}, {".ecr", PrmtMode::kEcr},
      {".rc16", PrmtMode::kRc16}};
  for (auto [name, mode] : kModes)
    word_row(t, "prmt.b32" + std::string(name), 3,
             [mode = mode](auto a, auto b, auto c) { return prmt(a, b, c, mode); });
}

void add_product_rows(PtxOperations& t) {
  auto bits = [](int32_t x) { return static_cast<uint32_t>(x); };
  for (bool a_signed : {false, true})
    for (bool b_signed : {false, true}) {
      std::string types = std::string(a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
      word_row(t, "dp4a" + types, 3,
               [=](auto a, auto b, auto c) { return dp4a(a, b, c, a_signed, b_signed); });
      for (bool high : {false, true})
        word_row(t, "dp2a" + std::string(high ? ".hi" : ".lo") + types, 3,
                 [=](auto a, auto b, auto c) { return dp2a(a, b, c, a_signed, b_signed, high); });
    }
  word_row(t, "mul.hi.u32", 2, [](auto a, auto b, auto) { return mul_hi(a, b); });
  word_row(t, "mul.hi.s32", 2, [=](auto a, auto b, auto) { return bits(mul_hi(s32(a), s32(b))); });
  word_row(t, "mul24.lo.u32", 2, [](auto a, auto b, auto) { return mul24_lo(a, b); });
  word_row(t, "mul24.hi.u32", 2, [](auto a, auto b, auto) { return mul24_hi(a, b); });
  word_row(t, "mul24.lo.s32", 2,
           [=](auto a, auto b, auto) { return bits(mul24_lo(s32(a), s32(b))); });
  word_row(t, "mul24.hi.s32", 2,
           [=](auto a, auto b, auto) { return bits(mul24_hi(s32(a), s32(b))); });
  word_row(t, "mad24.hi.sat.s32", 3,
           [=](auto a, auto b, auto c) { return bits(mad24_hi_sat(s32(a), s32(b), s32(c))); });
  word_row(t, "mad.hi.sat.s32", 3,
           [=](auto a, auto b, auto c) { return bits(mad_hi_sat(s32(a), s32(b), s32(c))); });
  word_row(t, "sad.u32", 3, [](auto a, auto b, auto c) { return sad(a, b, c); });
  word_row(t, "sad.s32", 3,
           [=](auto a, auto b, auto c) { return bits(sad(s32(a), s32(b), s32(c))); });
  word_row(t, "add.sat.s32", 2,
           [=](auto a, auto b, auto) { return bits(add_sat(s32(a), s32(b))); });
  word_row(t, "sub.sat.s32", 2,
           [=](auto a, auto b, auto) { return bits(sub_sat(s32(a), s32(b))); });
  word_row(t, "div.u32", 2, [](auto a, auto b, auto) { return div_int(a, b); });
  word_row(t, "rem.u32", 2, [](auto a, auto b, auto) { return rem_int(a, b); });
  word_row(t, "div.s32", 2, [=](auto a, auto b, auto) { return bits(div_int(s32(a), s32(b))); });
  word_row(t, "rem.s32", 2, [=](auto a, auto b, auto) { return bits(rem_int(s32(a), s32(b))); });
}

// 64 and 16 bits.
void add_other_widths(PtxOperations& t) {
  auto row = [&t](const char* ptx, const char* signature, auto run) {
    t.push_back({ptx, signature, [run](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
                   return static_cast<uint64_t>(run(a, b, c));
                 }});
  };
  auto s64 = [](uint64_t x) { return static_cast<int64_t>(x); };
  row("shl.b64", "llr", [](auto a, auto b, auto) { return shl(a, u32(b)); });
  row("shr.u64", "llr", [](auto a, auto b, auto) { return shr(a, u32(b)); });
  row("shr.s64", "llr", [=](auto a, auto b, auto) { return shr(s64(a), u32(b)); });
  row("shl.b16", "hhr", [](auto a, auto b, auto) { return shl(u16(a), u32(b)); });
  row("shr.u16", "hhr", [](auto a, auto b, auto) { return shr(u16(a), u32(b)); });
  row("shr.s16", "hhr", [](auto a, auto b, auto) {
    return static_cast<uint16_t>(shr(static_cast<int16_t>(a), u32(b)));
  });
  row("bfe.u64", "llrr", [](auto a, auto b, auto c) { return bfe(a, u32(b), u32(c)); });
  row("bfe.s64", "llrr", [=](auto a, auto b, auto c) { return bfe(s64(a), u32(b), u32(c)); });
  row("brev.b64", "ll", [](auto a, auto, auto) { return brev(a); });
  row("clz.b64", "rl", [](auto a, auto, auto) { return clz(a); });
  row("popc.b64", "rl", [](auto a, auto, auto) { return popc(a); });
  row("bfind.u64", "rl", [](auto a, auto, auto) { return bfind(a, false); });
  row("bfind.s64", "rl", [=](auto a, auto, auto) { return bfind(s64(a), false); });
  row("bfind.shiftamt.s64", "rl", [=](auto a, auto, auto) { return bfind(s64(a), true); });
  row("mul.hi.u64", "lll", [](auto a, auto b, auto) { return mul_hi(a, b); });
  row("mul.hi.s64", "lll", [=](auto a, auto b, auto) { return mul_hi(s64(a), s64(b)); });
  row("div.u64", "lll", [](auto a, auto b, auto) { return div_int(a, b); });
  row("div.s64", "lll", [=](auto a, auto b, auto) { return div_int(s64(a), s64(b)); });
  row("rem.u64", "lll", [](auto a, auto b, auto) { return rem_int(a, b); });
  row("rem.s64", "lll", [=](auto a, auto b, auto) { return rem_int(s64(a), s64(b)); });
  row("sad.u64", "llll", [](auto a, auto b, auto c) { return sad(a, b, c); });
}

}  // namespace

void add_integer_operations(PtxOperations& table) {
  add_integer_rows(table);
  add_product_rows(table);
  add_other_widths(table);
}

}  // namespace lw::arith
