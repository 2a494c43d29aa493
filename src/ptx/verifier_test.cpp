#include "ptx/verifier.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ptx/parser.h"

namespace lw::ptx {
namespace {

constexpr std::string_view kDeclarations =
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>;"
    ".reg .f64 %fd<4>; .reg .u32 %u<4>; .reg .f16 %hf<4>; .reg .b128 %q<2>;"
    ".shared .align 16 .b8 sm[64];\n";

// The first complaint about a body, or nothing.
std::string complaint(const std::string& body, const std::string& target = "sm_90a",
                      const std::string& version = "9.0") {
  diagnose::Emitter emitter;
  const std::string text = ".version " + version + "\n.target " + target +
                           "\n.address_size 64\n.global .b8 gl[64];\n.const .b32 cc;\n"
                           ".func (.param .b32 r) f (.param .b32 a) { ret; }\n"
                           ".entry k(.param .u64 input)\n{\n" +
                           std::string(kDeclarations) + body + "\nret;\n}\n";
  const auto module = parse(text, "test.ptx", emitter);
  if (module && verify(*module, emitter)) return "";
  return emitter.empty() ? "?" : emitter.diagnostics()[0].message;
}

struct Case {
  std::string body;
  std::string message;
};

TEST(Verifier, RegistersFitTheirInstruction) {
  const Case cases[] = {
      {"add.s32 %r0, %u0, %r1;", ""},
      {"add.s32 %r0, %f0, %r1;", "operand 2, `%f0`, is declared `.f32`"},
      {"add.f32 %f0, %r1, %f1;", ""},
      {"add.f32 %f0, %u1, %f1;", "operand 2, `%u1`, is declared `.u32`"},
      {"and.b32 %f0, %u1, %r1;", ""},
      {"mov.b32 %r0, %rd0;", "operand 2, `%rd0`, is declared `.b64`"},
      {"ld.global.u8 %r0, [%rd0];", ""},
      {"ld.global.f32 %fd0, [%rd0];", "operand 1, `%fd0`, is declared `.f64`"},
      {"mul.wide.u32 %r0, %r1, %r2;", "operand 1, `%r0`, is declared `.b32`"},
      {"add.f16 %h0, %hf0, %h1;", ""},
      {"shl.b64 %rd0, %rd1, %rd2;", "operand 3, `%rd2`, is declared `.b64`"},
      {"@%r0 ret;", "guard `%r0` is declared `.b32`, not `.pred`"},
  };
  for (const Case& each : cases) EXPECT_EQ(complaint(each.body), each.message) << each.body;
}

TEST(Verifier, ImmediatesFitTheirType) {
  const Case cases[] = {
      {"add.f32 %f0, %f1, 1.0;", ""},
      {"add.f32 %f0, %f1, 1;", "operand 3, `1`, is no immediate of `.f32`"},
      {"add.s32 %r0, %r1, 1.0;", "operand 3, `1.0`, is no immediate of `.s32`"},
      {"mov.b32 %r0, 0f3F800000;", ""},
      {"add.f16 %h0, %h1, 0x3C00;", "operand 3, `15360`, is no immediate of `.f16`"},
      {"bar.sync 16;", "operand 1, `16`, is out of range 0..15"},
      {"bar.sync 0, 33;", "operand 2, `33`, is not a multiple of 32"},
      {"cp.async.ca.shared.global [sm], [%rd0], 5;", "operand 3, `5`, is not 4 or 8 or 16"},
      {"setmaxnreg.inc.sync.aligned.u32 100;", "operand 1, `100`, is not a multiple of 8"},
      {"lop3.b32 %r0, %r1, %r2, %r3, %r1;", "operand 5, `%r1`, is not an immediate"},
  };
  for (const Case& each : cases) EXPECT_EQ(complaint(each.body), each.message) << each.body;
}

TEST(Verifier, CountsAndShapes) {
  const Case cases[] = {
      {"add.s32 %r0, %r1;", "`add.s32` takes 3 operands, not 2"},
      {"add.s32 %r0, gl, %r1;", "operand 2, `gl`, is not a register for `.s32`"},
      {"ld.global.v2.b32 {%r0, %r1}, [%rd0];", ""},
      {"ld.global.v2.b32 {%r0, %r1, %r2}, [%rd0];",
       "`ld.global.v2.b32` does not take these operands"},
      {"mov.b64 %rd0, {%r0, %r1, %r2};",
       "operand 2, `{%r0, %r1, %r2}`, does not fill 64 bits with equal parts"},
      {"mov.b64 %rd0, {%h0, %h1};", "operand 2, `%h0`, is declared `.b16`, and a part has 32 bits"},
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r1];", ""},
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r0, [%r1];",
       "operand 1, `%r0`, is not a vector of 1"},
      {"mov.u64 %rd0, %tid.x;", "operand 2, `%tid.x`, is `.u32`"},
      {"add.u32 %r0, %tid.x, %r1;", "operand 2, `%tid.x`, is a special register"},
  };
  for (const Case& each : cases) EXPECT_EQ(complaint(each.body), each.message) << each.body;
}

TEST(Verifier, AddressesFitTheirSpace) {
  const Case cases[] = {
      {"ld.shared.b32 %r0, [sm+4];", ""},
      {"ld.shared.b32 %r0, [gl];",
       "operand 2, `[gl]`, is in `.global`, and the instruction accesses `.shared`"},
      {"ld.global.b32 %r0, [%r1];",
       "operand 2, `[%r1]`, has 32 bits, and a global or generic address has 64"},
      {"ld.shared.b32 %r0, [%f1];",
       "operand 2, `[%f1]`, is declared `.f32`, and an address is an integer"},
      {"ld.global.b32 %r0, [16];", "operand 2, `[16]`, is an immediate address"},
      {"ld.local.b32 %r0, [16];", ""},
      {"st.param.b64 [input], %rd0;",
       "operand 1, `[input]`, is an input parameter, and those are only read"},
      {"st.const.b32 [cc], %r0;", "operand 1, `[cc]`, is in `.const`, which is only read"},
      {"mov.u32 %r0, gl;", "operand 2, `gl`, is an address of 64 bits, which `.u32` does not hold"},
  };
  for (const Case& each : cases) EXPECT_EQ(complaint(each.body), each.message) << each.body;
}

TEST(Verifier, TargetsAndVersions) {
  const std::string wgmma = "wgmma.fence.sync.aligned;";
  EXPECT_EQ(complaint(wgmma, "sm_90a"), "");
  EXPECT_EQ(complaint(wgmma, "sm_100a"),
            "`wgmma.fence.sync.aligned` is not supported on `.target sm_100a`");
  const std::string wait = "tcgen05.wait::ld.sync.aligned;";
  for (const std::string target : {"sm_100a", "sm_100f", "sm_103a", "sm_110f"}) {
    EXPECT_EQ(complaint(wait, target), "") << target;
  }
  for (const std::string target : {"sm_90a", "sm_100", "sm_120a"}) {
    EXPECT_NE(complaint(wait, target), "") << target;
  }
  EXPECT_EQ(complaint("elect.sync %r0|%p0, -1;", "sm_90", "7.8"),
            "`elect.sync` needs `.version 8.0`, and the module says 7.8");
  EXPECT_EQ(complaint("ld.global.v4.b64 {%rd0, %rd1, %rd2, %rd3}, [%rd4];"),
            "an access of 256 bits is not supported on `.target sm_90a`");
  EXPECT_EQ(complaint("tensormap.replace.tile.rank.shared::cta.b1024.b32 [sm], 1;"), "");
  EXPECT_EQ(complaint("vote.all.pred %p0, %p1;"),
            "`vote.all.pred` is not supported on `sm_70` and later from `.version 6.4` on");
  EXPECT_EQ(complaint("ret;", "sm_seven"), "there is no target `sm_seven`");
  EXPECT_EQ(complaint("ret;", "sm_90f"), "there is no target `sm_90f`");
  EXPECT_EQ(complaint("ret;", "sm_103a", "8.7"), "PTX 8.7 has no target `sm_103a`");
  EXPECT_EQ(complaint("ret;", "sm_90", "12.0"),
            "PTX 12.0 is newer than 9.5, the last version known here");
}

TEST(Verifier, HeadsOfFunctions) {
  const auto head = [](const std::string& text) {
    diagnose::Emitter emitter;
    const auto module =
        parse(".version 9.0\n.target sm_90a\n.address_size 64\n" + text, "t", emitter);
    if (module && verify(*module, emitter)) return std::string();
    return emitter.diagnostics()[0].message;
  };
  EXPECT_EQ(head(".entry k() .maxntid 0 { ret; }"), "`k` has a dimension of 0");
  EXPECT_EQ(head(".entry k() .maxntid 128 .reqntid 128 { ret; }"),
            "`k` has both `.maxntid` and `.reqntid`");
  EXPECT_EQ(head(".func f(.param .u64 .ptr .global .align 16 p) { ret; }"),
            "`p` is `.ptr`, which only parameters of kernels are");
  EXPECT_EQ(head(".func f(.param .b32 a, .param .b8 more[]) { ret; }"
                 ".entry k() { .param .b32 x; call f, (x); ret; }"),
            "");
}

TEST(Verifier, CallsMatchTheirFunction) {
  const std::string scope = "{ .param .b32 x; .param .b32 y; ";
  EXPECT_EQ(complaint(scope + "call (y), f, (x); }"), "");
  EXPECT_EQ(complaint(scope + "call f, (x); }"), "`f` has 1 results, not 0");
  EXPECT_EQ(complaint(scope + "call (y), f, (x, x); }"), "`f` has 1 arguments, not 2");
  EXPECT_EQ(complaint(scope + "call (y), %rd0, (x); }"),
            "`%rd0` is called without a list of targets or a prototype");
}

}  // namespace
}  // namespace lw::ptx
