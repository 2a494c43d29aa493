#pragma once
// Cuts PTX text into tokens, one at a time and none ahead, so that the parser may take over the
// text where it knows more: an opcode with all its modifiers is one piece, and `%r1` is a name.
// PTX ISA, chapter Syntax. Text is never copied: tokens are views.

#include <cstdint>
#include <optional>
#include <string_view>

namespace lw::ptx {

enum class TokenKind : uint8_t {
  end,
  name,      // identifier, `%r1`, `$L__BB0_2`, `_`
  dot_word,  // `.b32`, `.shared::cta`; text without the dot
  number,    // as written, sign not included
  string,    // text without the quotes
  sign,      // one character of punctuation
  broken,    // a character that PTX does not have, or an unfinished string or comment
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  uint32_t line = 1;
  uint32_t column = 1;

  bool is(char c) const { return kind == TokenKind::sign && text[0] == c; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text);

  Token next();

  // With `first`, the name just returned, an opcode begins: takes the modifiers behind it, blanks
  // and all.
  struct Opcode {
    std::string_view text;
    bool has_blanks = false;
  };
  Opcode rest_of_opcode(const Token& first);

  // Whether the next character that is no blank is `c`; skips the blanks before it.
  bool comes(char c);
  // Whether more stands behind on the same line than braces that close something, or a comment.
  bool line_goes_on() const;
  // Whether `c` follows at once, with nothing between.
  bool touches(char c) const { return at_ != end_ && *at_ == c; }

  // From here to the matching `}`, which is consumed too; the view is without it. Nothing if there
  // is none. Strings and comments are not looked into: sections of debug data hold none. Free text
  // between `.source_begin` and `.source_end` is passed over.
  std::optional<std::string_view> raw_block();

 private:
  bool begins_dot_word() const;
  void skip_blanks();
  void skip_line_comment();
  void skip_block_comment();
  void skip_here_text();
  Token token(TokenKind kind, const char* start, const char* stop) const;
  Token name(const char* start);
  Token dot_word(const char* start);
  Token number(const char* start);
  Token string(const char* start);
  Token sign(const char* start);

  const char* at_;
  const char* end_;
  const char* line_start_;
  Token broken_comment_;  // of kind `broken` once a comment has turned out to have no end
  uint32_t line_ = 1;
};

}  // namespace lw::ptx
