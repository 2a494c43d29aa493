#include "ptx/lexer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lw::ptx {
namespace {

std::vector<std::string> words(std::string_view text) {
  Lexer lexer(text);
  std::vector<std::string> all;
  for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next()) {
    all.emplace_back(token.text);
  }
  return all;
}

using Words = std::vector<std::string>;

TEST(Lexer, NamesDotWordsAndSigns) {
  EXPECT_EQ(words("add.s32 %r1, %r2, -5;"),
            (Words{"add", "s32", "%r1", ",", "%r2", ",", "-", "5", ";"}));
  EXPECT_EQ(words("$L__BB0_1: _ab"), (Words{"$L__BB0_1", ":", "_ab"}));
}

TEST(Lexer, QualifiedWordsKeepTheirColons) {
  EXPECT_EQ(words(".shared::cta .L2::128B"), (Words{"shared::cta", "L2::128B"}));
  EXPECT_EQ(words(".sp::2:4.x32"), (Words{"sp::2:4", "x32"}));
  EXPECT_EQ(words("done:.reg"), (Words{"done", ":", "reg"}));
}

TEST(Lexer, Numbers) {
  EXPECT_EQ(words("0f3F800000 0. 1.5e-3 0x1FU 1.0"),
            (Words{"0f3F800000", "0.", "1.5e-3", "0x1FU", "1.0"}));
}

TEST(Lexer, CommentsAreBlanks) {
  EXPECT_EQ(words("a // b\n c /* d\n e */ f"), (Words{"a", "c", "f"}));
}

TEST(Lexer, LinesAndColumnsCountFromOne) {
  Lexer lexer("a\n  /* x\n */ b");
  lexer.next();
  const Token b = lexer.next();
  EXPECT_EQ(b.line, 3u);
  EXPECT_EQ(b.column, 5u);
}

TEST(Lexer, UnfinishedCommentsAndStringsAreBroken) {
  for (std::string_view text : {"/* never", "\"never", "`"}) {
    Lexer lexer(text);
    EXPECT_EQ(lexer.next().kind, TokenKind::broken) << text;
    EXPECT_EQ(lexer.next().kind, TokenKind::end) << text;
  }
}

TEST(Lexer, OpcodesAreOnePieceWithBlanksInside) {
  Lexer lexer("lop3 .b32\t.or r");
  const Token first = lexer.next();
  const Lexer::Opcode opcode = lexer.rest_of_opcode(first);
  EXPECT_EQ(opcode.text, "lop3 .b32\t.or");
  EXPECT_TRUE(opcode.has_blanks);
  EXPECT_EQ(lexer.next().text, "r");
}

}  // namespace
}  // namespace lw::ptx
