#include "ptx/parse/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace lw::ptx {
namespace {

constexpr std::string_view kCommentOpens = "/*";

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

// Bytes that are no text are shown by their value.
std::string describe_character(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  const bool printable = byte >= ' ' && byte < 0x7f;
  return printable ? fmt::format("`{}`", text) : fmt::format("of code {}", byte);
}

}  // namespace

Lexer::Opcode Cursor::take_opcode() {
  const Lexer::Opcode opcode = lexer_.rest_of_opcode(token_);
  token_.text = opcode.text;
  advance();
  return opcode;
}

bool Cursor::first_on_line() const {
  const char* at = token_.text.data() - (token_.kind == TokenKind::dot_word ? 1 : 0);
  while (at != text_.data() && (at[-1] == ' ' || at[-1] == '\t')) --at;
  return at == text_.data() || at[-1] == '\n' || at[-1] == '\r';
}

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

bool Cursor::expect(char c, std::string_view where, std::string hint) {
  if (accept(c)) return true;
  return fail_expected(fmt::format("`{}` {}", c, where), std::move(hint));
}

bool Cursor::expect_end(std::string_view where) { return accept(';') || fail_no_end(where); }

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
  if (gave_up() || silent_) return false;
  errors_.push_back(
      {{file_, where.line, where.column}, std::move(message), line_of(where), std::move(hint)});
  return false;
}

bool Cursor::fail_expected(std::string_view what, std::string hint) {
  if (token_.kind != TokenKind::broken) {
    return fail(fmt::format("expected {}, found {}", what, describe(token_)), std::move(hint));
  }
  if (!token_.text.empty() && token_.text[0] == '"') {
    return fail("a string has no end", "close it with `\"` on the same line");
  }
  return fail(fmt::format("PTX has no character {}", describe_character(token_.text)),
              "leave it out");
}

// The next statement is not to blame for a `;` that the line before lacks.
bool Cursor::fail_no_end(std::string_view where) {
  const bool closes = at('}') && !lexer_.line_goes_on();
  const bool goes_on = token_.kind == TokenKind::broken || (!first_on_line() && !closes);
  if (goes_on && !at_end()) {
    return fail_expected(fmt::format("`,` or `;` {}", where),
                         "separate with `,` and end the statement with `;`");
  }
  Token behind = previous_;
  behind.column += static_cast<uint32_t>(previous_.text.size()) +
                   (previous_.kind == TokenKind::dot_word ? 1 : 0) +
                   (previous_.kind == TokenKind::string ? 2 : 0);
  return fail(behind, fmt::format("expected `;` {}", where), "end the statement with `;`");
}

void Cursor::add_hint(const std::string& hint) {
  if (!errors_.empty() && errors_.back().hint.empty()) errors_.back().hint = hint;
}

void Cursor::reset(const Mark& mark) {
  lexer_ = mark.lexer;
  token_ = mark.token;
}

void Cursor::report(diagnose::Emitter& emitter) {
  const auto place = [](const diagnose::Diagnostic& each) {
    return std::tuple(each.place.line, each.place.column);
  };
  std::stable_sort(errors_.begin(), errors_.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  for (diagnose::Diagnostic& error : errors_) emitter.emit(std::move(error));
}

void Cursor::note_unfinished_comment() {
  if (token_.text != kCommentOpens) return;
  fail("a comment has no end", "close it with `*/`");
  fall_silent();
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
