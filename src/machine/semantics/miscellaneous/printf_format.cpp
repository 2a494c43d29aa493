#include "machine/semantics/miscellaneous/printf_format.h"

#include <bit>
#include <cstdio>

namespace lw::machine {
namespace {

constexpr std::string_view kIntegers = "diuxXo";
constexpr std::string_view kFloats = "fFeEgGaA";

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

template <class... Values>
std::string host_printf(const std::string& format, Values... values) {
  const int length = std::snprintf(nullptr, 0, format.c_str(), values...);
  if (length <= 0) return "";
  std::string text(static_cast<size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), values...);
  text.pop_back();
  return text;
}

class Printer {
 public:
  Printer(std::string_view format, PrintfArguments& arguments)
      : format_(format), arguments_(arguments) {}

  Printed run() {
    while (at_ < format_.size()) {
      if (format_[at_] == '%')
        conversion();
      else
        printed_.text += format_[at_++];
    }
    return std::move(printed_);
  }

 private:
  char now() const { return at_ < format_.size() ? format_[at_] : '\0'; }

  uint64_t next(uint32_t bytes) {
    offset_ = (offset_ + bytes - 1) / bytes * bytes;
    const uint64_t value = arguments_.read(offset_, bytes);
    offset_ += bytes;
    return value;
  }

  // A number, or `*` that takes it from the arguments.
  void number(std::string& spec) {
    if (now() == '*') {
      spec += std::to_string(static_cast<int32_t>(next(4)));
      ++printed_.arguments;
      ++at_;
    }
    while (is_one_of(now(), "0123456789") && now() != '\0') spec += format_[at_++];
  }

  void conversion() {
    const size_t start = at_++;
    std::string spec = "%";
    while (now() != '\0' && is_one_of(now(), "-+ #0")) spec += format_[at_++];
    number(spec);
    if (now() == '.') {
      spec += format_[at_++];
      number(spec);
    }
    std::string length;
    while (now() != '\0' && is_one_of(now(), "hljztLq")) length += format_[at_++];
    const char letter = now();
    if (letter != '\0') ++at_;
    if (letter == '%')
      printed_.text += '%';
    else if (!convert(spec, length, letter))
      printed_.text += format_.substr(start, at_ - start);
    else
      ++printed_.arguments;
  }

  bool convert(const std::string& spec, std::string_view length, char letter) {
    if (letter == '\0') return false;
    if (is_one_of(letter, kIntegers)) {
      printed_.text += integer(spec, length, letter);
    } else if (is_one_of(letter, kFloats)) {
      printed_.text += host_printf(spec + letter, std::bit_cast<double>(next(8)));
    } else if (letter == 'c') {
      printed_.text += host_printf(spec + letter, static_cast<int>(next(4)));
    } else if (letter == 'p') {
      printed_.text += host_printf(spec + letter, reinterpret_cast<void*>(next(8)));
    } else if (letter == 's') {
      printed_.text += host_printf(spec + letter, arguments_.read_text(next(8)).c_str());
    } else {
      return false;
    }
    return true;
  }

  std::string integer(const std::string& spec, std::string_view length, char letter) {
    if (is_one_of('l', length) || is_one_of('j', length) || is_one_of('z', length) ||
        is_one_of('t', length) || is_one_of('q', length))
      return host_printf(spec + "ll" + letter, static_cast<long long>(next(8)));
    const auto value = static_cast<int>(next(4));
    const bool halves = !length.empty() && length[0] == 'h';
    return host_printf(spec + (halves ? std::string(length) : "") + letter, value);
  }

  std::string_view format_;
  PrintfArguments& arguments_;
  size_t at_ = 0;
  uint64_t offset_ = 0;
  Printed printed_;
};

}  // namespace

Printed format_printf(std::string_view format, PrintfArguments& arguments) {
  return Printer(format, arguments).run();
}

}  // namespace lw::machine
