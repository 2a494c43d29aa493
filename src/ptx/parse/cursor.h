#pragma once
// The current token, and the errors found on the way. A failed rule adds one diagnostic and returns
// false; its caller skips to where the next statement begins (recovery.h) and goes on.

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnostic.h"
#include "ptx/lexer.h"

namespace lw::ptx {

class Cursor {
 public:
  Cursor(std::string_view text, std::string file_name)
      : text_(text), file_(std::move(file_name)), lexer_(text) {
    advance();
  }

  const Token& token() const { return token_; }
  Lexer& lexer() { return lexer_; }
  void advance() {
    previous_ = token_;
    token_ = lexer_.next();
    if (token_.kind == TokenKind::broken) note_unfinished_comment();
  }
  // With the opcode's first name as the current token: the whole opcode becomes one token, which is
  // passed.
  Lexer::Opcode take_opcode();

  bool at(char c) const { return token_.is(c); }
  bool at_end() const { return token_.kind == TokenKind::end; }
  bool at_name() const { return token_.kind == TokenKind::name; }
  bool at_word() const { return token_.kind == TokenKind::dot_word; }
  bool at_word(std::string_view word) const { return at_word() && token_.text == word; }
  // Whether only blanks stand before the current token on its line.
  bool first_on_line() const;

  bool accept(char c);
  bool accept_word(std::string_view word);
  bool expect(char c, std::string_view where, std::string hint = "");
  // The `;` of a statement that ends with a list.
  bool expect_end(std::string_view where);

  // Takes a name; the empty view if there is none, which is an error.
  std::string_view expect_name(std::string_view what);

  bool fail(const Token& where, std::string message, std::string hint = "");
  bool fail(std::string message, std::string hint = "") {
    return fail(token_, std::move(message), std::move(hint));
  }
  // `expected X, found Y` at the current token.
  bool fail_expected(std::string_view what, std::string hint = "");
  // The missing `;` between the last token and the current one.
  bool fail_no_end(std::string_view where);
  // A hint for the last error, if it has none yet.
  void add_hint(const std::string& hint);

  // The rest of the text could not be read: what is missing from here on may be in it.
  void fall_silent() { silent_ = true; }

  // A place to come back to.
  struct Mark {
    Lexer lexer;
    Token token;
  };
  Mark mark() const { return {lexer_, token_}; }
  void reset(const Mark& mark);

  size_t errors() const { return errors_.size(); }
  // After this many errors the rest would tell little.
  bool gave_up() const { return errors_.size() >= kMostErrors; }
  // The errors in the order of the text.
  void report(diagnose::Emitter& emitter);

 private:
  static constexpr size_t kMostErrors = 20;

  void note_unfinished_comment();
  std::string line_of(const Token& token) const;

  std::string_view text_;
  std::string file_;
  Lexer lexer_;
  Token token_;
  Token previous_;
  std::vector<diagnose::Diagnostic> errors_;
  bool silent_ = false;
};

}  // namespace lw::ptx
