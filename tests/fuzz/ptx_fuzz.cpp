// Any bytes as PTX: the parser and the verifier end and emit, and a text that parses prints to one
// that parses to the same module.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/check.h"
#include "ptx/parser.h"
#include "ptx/printer.h"
#include "ptx/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lw;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  diagnose::Emitter emitter;
  const auto module = ptx::parse(text, "fuzz", emitter);
  LW_CHECK(module.has_value() == emitter.empty());
  if (!module) return 0;
  ptx::verify(*module, emitter);
  diagnose::Emitter again;
  const std::string printed = ptx::print(*module);
  const auto second = ptx::parse(printed, "fuzz", again);
  LW_CHECK(second.has_value(), printed);
  LW_CHECK(*second == *module, printed);
  return 0;
}
