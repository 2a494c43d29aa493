#include "ptx/parser.h"

#include <gtest/gtest.h>

#include <string>

#include "ptx/printer.h"

namespace lw::ptx {
namespace {

constexpr std::string_view kHeader = ".version 9.0\n.target sm_90a\n.address_size 64\n";

Module parse_all(const std::string& text) {
  diagnose::Emitter emitter;
  auto module = parse(std::string(kHeader) + text, "test.ptx", emitter);
  for (const auto& each : emitter.diagnostics()) {
    ADD_FAILURE() << each.place.line << ": " << each.message << "\n" << each.excerpt;
  }
  if (!module) return {};
  diagnose::Emitter again;
  const auto printed = parse(print(*module), "test.ptx", again);
  EXPECT_TRUE(printed && *printed == *module) << print(*module);
  return *module;
}

Module parse_body(const std::string& body) {
  return parse_all(".visible .entry k(.param .u64 a)\n{\n" + body + "\nret;\n}\n");
}

std::vector<diagnose::Diagnostic> errors_of(const std::string& text) {
  diagnose::Emitter emitter;
  EXPECT_FALSE(parse(text, "test.ptx", emitter)) << text.substr(0, 200);
  return emitter.diagnostics();
}

std::vector<diagnose::Diagnostic> errors_in_body(const std::string& body) {
  return errors_of(std::string(kHeader) + ".entry k()\n{\n" + body + "\n}\n");
}

const Function& kernel(const Module& module) { return module.functions.back(); }

const Operand& operand(const Function& function, size_t instruction, size_t index) {
  return function.operands_of(function.instructions[instruction])[index];
}

TEST(Parser, RegistersOfRangesGetIdsOnFirstUse) {
  const Module module = parse_body(".reg .b32 %r<5000>; add.s32 %r7, %r3, %r7;");
  const Function& function = kernel(module);
  ASSERT_EQ(function.registers.size(), 2u);
  EXPECT_EQ(function.registers[0].name, "%r7");
  EXPECT_EQ(operand(function, 0, 0).id, operand(function, 0, 2).id);
}

TEST(Parser, OffsetsAreConstantExpressions) {
  const Module module = parse_body(".reg .b64 %a; .reg .b32 %r; ld.b32 %r, [%a + 4*8 - 16/4];");
  EXPECT_EQ(operand(kernel(module), 0, 1).value, 28);
}

TEST(Parser, InnerRangesHideOuterRegisters) {
  const Module module = parse_body(
      ".reg .b32 %r<9>; mov.b32 %r1, 1; { .reg .b32 %r<2>; mov.b32 %r1, 2; mov.b32 %r5, 3; }"
      "mov.b32 %r1, 4;");
  const Function& function = kernel(module);
  EXPECT_NE(operand(function, 0, 0).id, operand(function, 1, 0).id);
  EXPECT_EQ(operand(function, 0, 0).id, operand(function, 3, 0).id);
  EXPECT_EQ(function.registers[operand(function, 2, 0).id].name, "%r5");
}

TEST(Parser, LabelsBelongToTheirScope) {
  const Module module = parse_body(
      ".reg .pred p; { wait: @p bra done; bra wait; done: } { wait: @p bra done; bra wait; done: }"
      "bra end; end:");
  const Function& function = kernel(module);
  ASSERT_EQ(function.labels.size(), 5u);
  EXPECT_EQ(operand(function, 0, 0).id, 1u);
  EXPECT_EQ(operand(function, 2, 0).id, 3u);
  EXPECT_EQ(function.labels[4].target, 5u);
}

TEST(Parser, BranchTablesNameLabels) {
  const Module module =
      parse_body(".reg .b32 r; ts: .branchtargets one, two; brx.idx r, ts; one: two:");
  const Function& function = kernel(module);
  ASSERT_EQ(function.targets.size(), 1u);
  EXPECT_EQ(function.targets[0].ids, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(operand(function, 0, 1).kind, OperandKind::list);
}

TEST(Parser, OperandsOfEveryKind) {
  const Module module = parse_body(
      ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; .shared .b8 s[64];"
      "mov.u32 %r0, %tid.x; mov.b64 %rd0, {%r1, %r2}; st.shared.b32 [s+8], %r1;"
      "ld.shared.b32 %r1, [%r2+-4]; elect.sync _|%p1, -1; setp.eq.and.s32 %p0|%p1, %r0, 3, !%p2;"
      "mov.b64 {%r1, _}, %rd0; mov.b32 %r1, 0f3F800000; mov.b32 %r1, ((1 << 4) | 3);"
      "mov.b32 %r1, WARP_SZ; mov.b64 %rd1, s;");
  const Function& function = kernel(module);
  EXPECT_EQ(operand(function, 0, 1).special(), SpecialRegister::tid_x);
  EXPECT_EQ(operand(function, 1, 1).count, 2u);
  EXPECT_EQ(operand(function, 2, 0).value, 8);
  EXPECT_EQ(operand(function, 3, 1).value, -4);
  EXPECT_EQ(function.elements_of(operand(function, 4, 0))[0].kind, OperandKind::sink);
  EXPECT_TRUE(operand(function, 5, 3).negated);
  EXPECT_EQ(operand(function, 7, 1).literal, Literal::f32_bits);
  EXPECT_EQ(operand(function, 8, 1).value, 19);
  EXPECT_EQ(operand(function, 9, 1).value, 32);
  EXPECT_EQ(operand(function, 10, 1).kind, OperandKind::symbol);
}

TEST(Parser, TheFormFollowsFromOpcodeAndOperands) {
  const Module module = parse_body(
      ".reg .b32 %r<9>; .reg .b64 %rd<9>; mov.b64 %rd0, %rd1; mov.b64 %rd0, {%r1, %r2};"
      "mov.b64 {%r1, %r2}, %rd0; ld.shared.acquire.gpu.b32 %r1, [%r2]; lop3 .b32 "
      "%r1,%r2,%r3,%r4,1;");
  const Function& function = kernel(module);
  const auto form = [&](size_t i) { return module.opcode_of(function.instructions[i]).form; };
  EXPECT_EQ(form(0), FormId::mov);
  EXPECT_EQ(form(1), FormId::mov_pack);
  EXPECT_EQ(form(2), FormId::mov_unpack);
  EXPECT_EQ(form(3), FormId::ld_acquire);
  EXPECT_EQ(form(4), FormId::lop3);
  EXPECT_EQ(module.opcode_of(function.instructions[4]).text, "lop3.b32");
}

TEST(Parser, LocationsChainThroughInlining) {
  const Module module = parse_body(
      ".loc 1 10 3\n.reg .b32 r;\n.loc 1 99 7, function_name $L__info_string0, inlined_at 1 10 3\n"
      "mov.b32 r, 1;");
  const Location& inner = module.locations[kernel(module).instructions[0].location.value];
  EXPECT_EQ(inner.line, 99u);
  EXPECT_EQ(inner.function, "$L__info_string0");
  EXPECT_EQ(module.locations[inner.inlined_at.value].line, 10u);
}

TEST(Parser, InitialisersOfEveryKind) {
  const Module module = parse_all(
      ".global .align 4 .b8 bytes[4] = {1, 2, 0xff};\n"
      ".global .f32 rows[2][2] = {{1.0, 2.0}, {0f3F800000}};\n"
      ".global .u64 where[2] = {bytes+2, generic(bytes)};\n"
      ".global .u8 part[2] = {0xff(bytes), 0xff00(bytes)};\n"
      ".global .s32 open[] = {-1, 2, 3};\n"
      ".const .f64 one = 1.0;\n.extern .shared .align 16 .b8 dynamic[];\n"
      ".global .samplerref s = { addr_mode_0 = wrap, filter_mode = linear };\n");
  const auto& variables = module.variables;
  EXPECT_EQ(variables[0].initial.size(), 3u);
  EXPECT_EQ(variables[1].initial.size(), 3u);
  EXPECT_EQ(variables[1].initial[1].bits, 0x40000000u);
  EXPECT_EQ(variables[2].initial[0].bits, 2u);
  EXPECT_TRUE(variables[2].initial[1].generic);
  EXPECT_EQ(variables[3].initial[1].mask, 0xff00u);
  EXPECT_EQ(variables[4].dims, (std::vector<uint64_t>{3}));
  EXPECT_EQ(variables[4].initial[0].bits, 0xffffffffu);
  EXPECT_EQ(variables[6].size_bytes(), 0u);
}

TEST(Parser, FunctionsCallsAndPrototypes) {
  const Module module = parse_all(
      ".extern .func (.param .b32 r) outer (.param .b64 a, .param .b64 b);\n"
      ".func (.param .b32 r) twice (.param .b32 a);\n"
      ".visible .entry k(.param .u64 .ptr .global .align 16 p)\n.maxntid 128, 1, 1\n.minnctapersm "
      "2\n"
      "{\n.reg .b64 %rd<3>;\n{ .param .b32 x; .param .b32 y; call.uni (y), twice, (x); }\n"
      "mov.u64 %rd1, twice;\nproto : .callprototype (.param .b32 _) _ (.param .b32 _);\n"
      "{ .param .b32 x; .param .b32 y; call (y), %rd1, (x), proto; }\nret;\n}\n"
      ".func (.param .b32 r) twice (.param .b32 a)\n{\nret;\n}\n");
  ASSERT_EQ(module.functions.size(), 4u);
  const Function& k = module.functions[2];
  EXPECT_EQ(operand(k, 0, 1).id, 3u);  // the definition, not the declaration
  EXPECT_EQ(k.max_threads, (std::vector<uint32_t>{128, 1, 1}));
  EXPECT_TRUE(module.variables[k.params[0].value].pointer);
  EXPECT_EQ(module.find_function("twice")->value, 3u);
}

TEST(Parser, DebugSectionsStayText) {
  const Module module = parse_all(
      ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90\n}\n.file 1 \"a.cu\", 12, 34\n");
  EXPECT_EQ(module.sections[0].name, ".debug_str");
  EXPECT_EQ(module.find_file(FileId(1))->size, 34u);
}

TEST(Parser, WhatPtx93And94Add) {
  const Module module = parse_all(
      ".func .attribute(.unified(0xAB, 0xCD)) f () .language \"nvvm\", 7\n{\nret;\n}\n"
      ".entry k()\n.minperctamemory 2048\n{\n.reg .b64 r;\n.loc 1 2 3\n.loc_intermediate 2 23 6\n"
      "mov.u64 r, %perctamemoryoffset;\nret;\n}\n.nv_intermediate_source_section {\n.code_block {\n"
      ".ir_name: \"TileIR\"\n.source_begin\n } { unbalanced }}\n.source_end\n}\n}\n.file 1 "
      "\"a\"\n");
  EXPECT_EQ(module.functions[0].attributes.size(), 1u);
  EXPECT_EQ(module.functions[0].other_directives[0], ".language \"nvvm\", 7");
  const Function& k = module.functions[1];
  EXPECT_EQ(module.locations[k.instructions[0].location.value].line, 2u);
  EXPECT_TRUE(module.sections[0].directive);
  EXPECT_EQ(module.files.size(), 1u);
}

TEST(Parser, ExternalVariablesMayBeDeclaredAgainAndDefined) {
  const Module module = parse_all(
      ".extern .global .b32 x;\n.entry k()\n{\n.reg .b64 r;\nmov.u64 r, x;\nret;\n}\n"
      ".visible .global .b32 x;\n");
  EXPECT_EQ(operand(module.functions[0], 0, 1).id, 1u);
}

TEST(Parser, ErrorsAreCollectedWithPlaceAndExcerpt) {
  const auto errors = errors_in_body(
      "  .reg .b32 r;\n  add.s32 r, r;\n  foo.b32 r;\n  add.q32 r, r, r;\n  mov.b32 r, zz;\n"
      "  bra nowhere;");
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_EQ(errors[0].place.line, 8u);
  EXPECT_EQ(errors[0].place.column, 3u);
  EXPECT_EQ(errors[0].message, "no instruction is called `foo`");
  EXPECT_EQ(errors[0].excerpt, "foo.b32 r;");
  EXPECT_EQ(errors[1].message, "`.q32` is neither a type nor a modifier of PTX");
  EXPECT_EQ(errors[2].message, "`zz` is not declared");
  EXPECT_EQ(errors[3].message, "no label `nowhere` in `k`");
}

TEST(Parser, WrongTexts) {
  struct Wrong {
    std::string text;
    std::string message;
  };
  const std::string head(kHeader);
  const Wrong all[] = {
      {"", "expected `.version`, with which every PTX text begins, found the end of the file"},
      {".version nine", "expected a version such as `9.0`, found `nine`"},
      {head + "}", "a brace closes nothing"},
      {head + ".entry k() {", "`k` has no closing brace"},
      {head + ".entry k() { .reg .b32 r; .reg .b32 r; }", "`r` is declared twice"},
      {head + ".entry k() { a: a: ret; }", "label `a` stands twice in one scope"},
      {head + ".entry k() { .reg .b32 %r<4>; mov.b32 %r4, 1; }", "`%r4` is not declared"},
      {head + ".entry k() { .reg .b32 r; mov.b32 r, 0f12; }",
       "`0f12` is not a number of at most 64 bits"},
      {head + ".entry k() { .reg .b32 r; mov.b32 r, (1/0); }", "`/` has no value here"},
      {head + ".global .b32 x[2] = {1, 2, 3};", "`x` has more initial values than elements"},
      {head + ".entry k() { .reg .b32 x; x: ret; }", "`x` is declared twice"},
      {head + ".entry k() { ret; } .entry k() { ret; }", "`k` is defined already"},
      {head + ".entry k() { .reg .b32 r; brx.idx r, t; t: .branchtargets a; a: ret; }",
       "no target list `t` stands above"},
      {head + ".shared .b32 x = 5;", "`x` cannot have an initial value in its state space"},
      {head + ".global .b32 x[0];", "an array cannot have this size"},
      {head + ".global .align 3 .b32 x;", "alignment 3 is not a power of two"},
      {head + ".global .b32 x /* never", "a comment has no end"},
      {head + ".entry k() { .reg .b64 d; .reg .b32 r; mov.b64 d, {r, [r]}; }",
       "expected a single value, found `[`"},
  };
  for (const Wrong& wrong : all) {
    const auto errors = errors_of(wrong.text);
    ASSERT_FALSE(errors.empty()) << wrong.text;
    EXPECT_EQ(errors[0].message, wrong.message) << wrong.text;
  }
}

TEST(Parser, ManyErrorsEndTheParse) {
  std::string body;
  for (int i = 0; i < 1000; ++i) body += "foo;\n";
  EXPECT_LE(errors_in_body(body).size(), 50u);
}

TEST(Parser, DeepNestingIsNoDanger) {
  errors_in_body(std::string(100'000, '{'));
  errors_in_body(".reg .b32 r; mov.b32 r, " + std::string(100'000, '(') + "1;");
  errors_in_body(".reg .b32 r; mov.b32 r, " + std::string(100'000, '-') + "1;");
  errors_of(std::string(kHeader) + ".global .b32 x[2] = " + std::string(100'000, '{'));
}

}  // namespace
}  // namespace lw::ptx
