#include "ptx/parse/cursor.h"

#include <fmt/format.h>

namespace lw::ptx {
namespace {

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::end:
      return "the end of the file";
    case TokenKind::dot_word:
      return fmt::format("`.{}`", token.text);
    case TokenKind::string:
      return "a string";
    default:
      return fmt::format("`{}`", token.text);
  }
}

}  // namespace

bool Cursor::accept(char c) {
  if (!at(c)) return false;
  advance();
  return true;
}

bool Cursor::accept_word(std::string_view word) {
  if (!at_word(word)) return false;
  advance();
  return true;
}

bool Cursor::expect(char c, std::string_view where) {
  if (accept(c)) return true;
  return fail_expected(fmt::format("`{}` {}", c, where));
}

std::string_view Cursor::expect_name(std::string_view what) {
  if (!at_name()) {
    fail_expected(what);
    return {};
  }
  const std::string_view name = token_.text;
  advance();
  return name;
}

bool Cursor::fail(const Token& where, std::string message, std::string hint) {
  if (gave_up()) return false;
  ++errors_;
  emitter_.emit(
      {{file_, where.line, where.column}, std::move(message), line_of(where), std::move(hint)});
  return false;
}

bool Cursor::fail_expected(std::string_view what) {
  if (token_.kind == TokenKind::broken) {
    const bool comment = token_.text == "/*";
    const bool string = !token_.text.empty() && token_.text[0] == '"';
    return fail(comment  ? "a comment has no end"
                : string ? "a string has no end"
                         : fmt::format("PTX has no character `{}`", token_.text));
  }
  return fail(fmt::format("expected {}, found {}", what, describe(token_)));
}

void Cursor::skip_statement() {
  int depth = 0;
  while (!at_end()) {
    if (at('{')) ++depth;
    if (at('}') && depth-- == 0) return;
    const bool done = at(';') && depth == 0;
    advance();
    if (done) return;
  }
}

void Cursor::skip_declaration() {
  int depth = 0;
  while (!at_end()) {
    if (at('{')) ++depth;
    const bool closed = at('}') && --depth <= 0;
    const bool done = closed || (at(';') && depth == 0);
    advance();
    if (done) return;
  }
}

// The line of text that the token begins on, without blanks around it and cut where it is long.
std::string Cursor::line_of(const Token& token) const {
  static constexpr size_t kLongest = 160;
  const auto place = static_cast<size_t>(token.text.data() - text_.data());
  if (place > text_.size()) return "";
  const size_t newline = place == 0 ? std::string_view::npos : text_.rfind('\n', place - 1);
  size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  start = std::min(text_.find_first_not_of(" \t\r\n", start), text_.size());
  const size_t end = std::min(text_.find('\n', start), text_.size());
  return std::string(text_.substr(start, std::min(end - start, kLongest)));
}

}  // namespace lw::ptx
