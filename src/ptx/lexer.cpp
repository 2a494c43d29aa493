#include "ptx/lexer.h"

#include <array>
#include <cstring>
#include <utility>

namespace lw::ptx {
namespace {

enum : uint8_t { kBlank = 1, kNameStart = 2, kNamePart = 4, kDigit = 8, kNumberPart = 16 };

constexpr bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(int c) { return c >= '0' && c <= '9'; }

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    const bool start = is_letter(c) || c == '_' || c == '$' || c == '%';
    const bool part = is_letter(c) || is_digit(c) || c == '_' || c == '$';
    classes[c] = (start ? kNameStart : 0) | (part ? kNamePart : 0) | (is_digit(c) ? kDigit : 0) |
                 (is_letter(c) || is_digit(c) ? kNumberPart : 0);
  }
  for (char c : {' ', '\t', '\r', '\n', '\v', '\f'}) classes[static_cast<uint8_t>(c)] = kBlank;
  return classes;
}
constexpr auto kClasses = make_classes();

bool is(char c, uint8_t what) { return (kClasses[static_cast<uint8_t>(c)] & what) != 0; }

const char* skip_while(const char* at, const char* end, uint8_t what) {
  while (at != end && is(*at, what)) ++at;
  return at;
}

constexpr std::string_view kHereBegins = ".source_begin";
constexpr std::string_view kHereEnds = ".source_end";

std::string_view view(const char* start, const char* stop) {
  return {start, static_cast<size_t>(stop - start)};
}

}  // namespace

Lexer::Lexer(std::string_view text)
    : at_(text.data()), end_(text.data() + text.size()), line_start_(text.data()) {}

void Lexer::skip_blanks() {
  while (at_ != end_) {
    if (*at_ == '\n') {
      ++line_;
      line_start_ = ++at_;
    } else if (is(*at_, kBlank)) {
      ++at_;
    } else if (*at_ == '/' && end_ - at_ > 1 && at_[1] == '/') {
      skip_line_comment();
    } else if (*at_ == '/' && end_ - at_ > 1 && at_[1] == '*') {
      skip_block_comment();
    } else {
      return;
    }
  }
}

void Lexer::skip_line_comment() {
  const void* newline = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
  at_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
}

void Lexer::skip_block_comment() {
  const Token opening = token(TokenKind::broken, at_, at_ + 2);
  for (at_ += 2; at_ != end_; ++at_) {
    if (*at_ == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    } else if (*at_ == '*' && end_ - at_ > 1 && at_[1] == '/') {
      at_ += 2;
      return;
    }
  }
  broken_comment_ = opening;
}

Token Lexer::token(TokenKind kind, const char* start, const char* stop) const {
  return {kind, view(start, stop), line_, static_cast<uint32_t>(start - line_start_) + 1};
}

Token Lexer::next() {
  skip_blanks();
  const char* start = at_;
  if (broken_comment_.kind == TokenKind::broken) return std::exchange(broken_comment_, {});
  if (at_ == end_) return token(TokenKind::end, at_, at_);
  if (is(*at_, kNameStart)) return name(start);
  if (begins_dot_word()) return dot_word(start);
  if (is(*at_, kDigit)) return number(start);
  if (*at_ == '"') return string(start);
  return sign(start);
}

Token Lexer::name(const char* start) {
  at_ = skip_while(start + 1, end_, kNamePart);
  if (*start == '%' && at_ == start + 1) return token(TokenKind::sign, start, at_);  // modulo
  return token(TokenKind::name, start, at_);
}

// `.L2::cache_hint`, `.sp::2:4`; another single colon ends it.
Token Lexer::dot_word(const char* start) {
  at_ = skip_while(start + 1, end_, kNamePart);
  while (end_ - at_ > 2 && at_[0] == ':') {
    const bool qualifies = at_[1] == ':' && is(at_[2], kNamePart);
    const bool ratio = view(start, at_).find(':') != std::string_view::npos &&
                       is(at_[-1], kDigit) && is(at_[1], kDigit);
    if (!qualifies && !ratio) break;
    at_ = skip_while(at_ + (qualifies ? 2 : 1), end_, kNamePart);
  }
  Token word = token(TokenKind::dot_word, start, at_);
  word.text.remove_prefix(1);
  return word;
}

// Integers, `0f3F800000`, `1.`, `1.5e-3`: what the characters mean is parse_number's matter.
Token Lexer::number(const char* start) {
  at_ = skip_while(start, end_, kNumberPart);
  const bool prefixed = at_ - start > 1 && start[0] == '0' && is_letter(start[1]);
  if (prefixed) return token(TokenKind::number, start, at_);
  if (at_ != end_ && *at_ == '.') at_ = skip_while(at_ + 1, end_, kNumberPart);
  const bool exponent = at_[-1] == 'e' || at_[-1] == 'E';
  if (exponent && at_ != end_ && (*at_ == '-' || *at_ == '+')) {
    at_ = skip_while(at_ + 1, end_, kDigit);
  }
  return token(TokenKind::number, start, at_);
}

Token Lexer::string(const char* start) {
  for (at_ = start + 1; at_ != end_ && *at_ != '\n'; ++at_) {
    if (*at_ == '\\' && end_ - at_ > 1) {
      ++at_;
    } else if (*at_ == '"') {
      Token whole = token(TokenKind::string, start, at_++);
      whole.text.remove_prefix(1);
      return whole;
    }
  }
  return token(TokenKind::broken, start, at_);
}

Token Lexer::sign(const char* start) {
  static constexpr std::string_view kSigns = "{}()[]<>,;:+-*/%&|^!~=?@#.";
  ++at_;
  const bool known = kSigns.find(*start) != std::string_view::npos;
  return token(known ? TokenKind::sign : TokenKind::broken, start, at_);
}

Lexer::Opcode Lexer::rest_of_opcode(const Token& first) {
  const char* start = first.text.data();
  const char* stop = start + first.text.size();
  bool blanks = false;
  while (true) {
    if (begins_dot_word()) {
      blanks |= at_ != stop;
      dot_word(at_);
      stop = at_;
      continue;
    }
    const char* before = at_;
    skip_blanks();
    if (at_ == before || !begins_dot_word()) return {view(start, stop), blanks};
  }
}

bool Lexer::begins_dot_word() const {
  return end_ - at_ > 1 && *at_ == '.' && is(at_[1], kNamePart);
}

bool Lexer::comes(char c) {
  skip_blanks();
  return at_ != end_ && *at_ == c;
}

bool Lexer::line_goes_on() const {
  const char* at = at_;
  while (at != end_ && (*at == ' ' || *at == '\t')) ++at;
  return at != end_ && std::string_view("\r\n}/").find(*at) == std::string_view::npos;
}

// Free text of an intermediate source, to before the last character of the word that ends it.
void Lexer::skip_here_text() {
  const size_t found = view(at_, end_).find(kHereEnds);
  const char* stop = found == std::string_view::npos ? end_ : at_ + found + kHereEnds.size();
  for (; at_ != stop - 1; ++at_) {
    if (*at_ != '\n') continue;
    ++line_;
    line_start_ = at_ + 1;
  }
}

std::optional<std::string_view> Lexer::raw_block() {
  const char* start = at_;
  int depth = 1;
  for (; at_ != end_; ++at_) {
    if (*at_ == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    } else if (*at_ == '{') {
      ++depth;
    } else if (view(at_, end_).starts_with(kHereBegins)) {
      skip_here_text();
    } else if (*at_ == '}' && --depth == 0) {
      return view(start, at_++);
    }
  }
  return std::nullopt;
}

}  // namespace lw::ptx
