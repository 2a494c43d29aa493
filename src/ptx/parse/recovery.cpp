#include "ptx/parse/recovery.h"

#include <algorithm>
#include <functional>
#include <span>

#include "ptx/forms/match.h"

namespace lw::ptx {
namespace {

constexpr std::string_view kOnlyInModules[] = {"entry", "func",    "visible", "weak",
                                               "alias", "section", "file"};
constexpr std::string_view kAlsoInModules[] = {"extern", "common", "global", "const"};
constexpr std::string_view kOnlyInBodies[] = {"reg", "loc", "loc_intermediate"};

bool is_one_of(std::span<const std::string_view> words, const Cursor& cursor) {
  return cursor.at_word() && std::ranges::find(words, cursor.token().text) != words.end();
}

// Whether an operand may end with this token, so that a brace behind it opens a scope.
bool ends_operand(const Token& token) {
  return token.kind == TokenKind::name || token.kind == TokenKind::number || token.is(']') ||
         token.is('}') || token.is(')');
}

class Skip {
 public:
  Skip(Context& context, const Cursor::Mark& start)
      : cursor_(context.cursor), stopped_(cursor_.token().text.data()) {
    cursor_.reset(start);
  }

  void statement() {
    for (bool first = true; !cursor_.at_end(); first = false) {
      if (!first && reached() && cursor_.first_on_line() && begins_statement()) return;
      if (cursor_.at('{')) ++braces_;
      if (cursor_.at('}') && --braces_ < 0 && !cursor_.lexer().line_goes_on()) return;
      const bool done = cursor_.at(';');
      step();
      if (done && reached()) return rest_of_line();
    }
  }

  // A body may be behind a failed head, with statements and braces of its own. What is no
  // declaration at all is the rest of a body that ended too early.
  void declaration() {
    const bool stray = !cursor_.at_word();
    bool function = false;
    for (bool first = true; !cursor_.at_end(); first = false) {
      if (!first && reached() && next_declaration(stray)) return;
      function |= cursor_.at_word("entry") || cursor_.at_word("func") || cursor_.at('(');
      if (cursor_.at('{')) ++braces_;
      const bool closed = cursor_.at('}') && --braces_ <= 0 && !cursor_.lexer().line_goes_on();
      const bool ended = cursor_.at(';') && (!function || braces_ <= 0);
      step();
      if (!stray && (closed || ended)) return;
    }
  }

 private:
  void step() {
    parentheses_ += cursor_.at('(') ? 1 : cursor_.at(')') ? -1 : 0;
    before_ = cursor_.token();
    cursor_.advance();
  }

  bool reached() const { return !std::less<>()(cursor_.token().text.data(), stopped_); }

  bool begins_statement() {
    if (parentheses_ > 0) return false;
    if (cursor_.at('{')) return ends_operand(before_);
    if (cursor_.at('@') || cursor_.at_word()) return true;
    if (!cursor_.at_name() || cursor_.token().text[0] == '%') return false;
    return cursor_.lexer().touches('.') || cursor_.lexer().comes(':') ||
           !forms_of_base(cursor_.token().text).empty();
  }

  // What stands behind the `;` on its line and is no statement.
  void rest_of_line() {
    parentheses_ = 0;
    while (!cursor_.at_end() && !cursor_.first_on_line() && !cursor_.at('}') &&
           !begins_statement()) {
      step();
    }
  }

  bool next_declaration(bool stray) const {
    return cursor_.first_on_line() &&
           (begins_declaration(cursor_) || (stray && is_one_of(kAlsoInModules, cursor_)));
  }

  Cursor& cursor_;
  const char* stopped_;  // the token that was in the way
  Token before_;
  int braces_ = 0;
  int parentheses_ = 0;
};

}  // namespace

void skip_statement(Context& context, const Cursor::Mark& start) {
  const bool is_instruction = start.token.is('@') || start.token.kind == TokenKind::name;
  context.lost_local |= !is_instruction;
  Skip(context, start).statement();
  if (context.cursor.at_end()) context.cursor.fall_silent();
}

void skip_declaration(Context& context, const Cursor::Mark& start) {
  context.lost_global = true;
  Skip(context, start).declaration();
}

bool begins_declaration(const Cursor& cursor) { return is_one_of(kOnlyInModules, cursor); }

bool begins_body(const Cursor& cursor) {
  return is_one_of(kOnlyInBodies, cursor) || cursor.at_name() || cursor.at('@');
}

}  // namespace lw::ptx
