#pragma once
// The current token, and the errors found on the way. A failed rule emits one diagnostic and
// returns false; its caller skips to the end of the statement and goes on.

#include <string>
#include <string_view>

#include "diagnose/diagnostic.h"
#include "ptx/lexer.h"

namespace lw::ptx {

class Cursor {
 public:
  Cursor(std::string_view text, std::string file_name, diagnose::Emitter& emitter)
      : text_(text), file_(std::move(file_name)), emitter_(emitter), lexer_(text) {
    advance();
  }

  const Token& token() const { return token_; }
  Lexer& lexer() { return lexer_; }
  void advance() { token_ = lexer_.next(); }

  bool at(char c) const { return token_.is(c); }
  bool at_end() const { return token_.kind == TokenKind::end; }
  bool at_name() const { return token_.kind == TokenKind::name; }
  bool at_word() const { return token_.kind == TokenKind::dot_word; }
  bool at_word(std::string_view word) const { return at_word() && token_.text == word; }

  bool accept(char c);
  bool accept_word(std::string_view word);
  bool expect(char c, std::string_view where);

  // Takes a name; the empty view if there is none, which is an error.
  std::string_view expect_name(std::string_view what);

  bool fail(const Token& where, std::string message, std::string hint = "");
  bool fail(std::string message, std::string hint = "") {
    return fail(token_, std::move(message), std::move(hint));
  }
  // `expected X, found Y` at the current token.
  bool fail_expected(std::string_view what);

  // To behind the next `;`, or to before a `}` that closes what the statement stands in.
  void skip_statement();
  // To behind the next `;`, or behind the body or initialiser in braces that comes first.
  void skip_declaration();

  bool failed() const { return errors_ != 0; }
  // After this many errors the rest would tell little.
  bool gave_up() const { return errors_ >= kMostErrors; }

 private:
  static constexpr int kMostErrors = 50;

  std::string line_of(const Token& token) const;

  std::string_view text_;
  std::string file_;
  diagnose::Emitter& emitter_;
  Lexer lexer_;
  Token token_;
  int errors_ = 0;
};

}  // namespace lw::ptx
