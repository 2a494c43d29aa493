#pragma once
// printf of a device: the format is worked out on the host (CUDA: Formatted Output).
//
// The caller of vprintf leaves its arguments in a block of memory: integers and characters of 32
// bits as 4 bytes, everything else as 8, each at a multiple of its size. What each one is, the
// format alone says. Conversions are the host's own, so `%g` and `%a` look as they do there; an
// unknown conversion is printed as it stands and takes no argument.

#include <cstdint>
#include <string>
#include <string_view>

namespace lw::machine {

class PrintfArguments {
 public:
  virtual ~PrintfArguments() = default;
  virtual uint64_t read(uint64_t offset, uint32_t bytes) = 0;  // from the block
  virtual std::string read_text(uint64_t address) = 0;         // what `%s` points at
};

struct Printed {
  std::string text;
  uint32_t arguments = 0;  // converted: what vprintf returns
};
Printed format_printf(std::string_view format, PrintfArguments& arguments);

}  // namespace lw::machine
