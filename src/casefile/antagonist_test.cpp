#include "casefile/antagonist.h"

#include <gtest/gtest.h>

#include "ptx/parser.h"
#include "schedule/line_index.h"

namespace lw::casefile {
namespace {

// What holds name: the file says of it that it is its own source.
TEST(SecondOwner, ItsDeallocStandsWhereItsLocSays) {
  diagnose::Emitter emitter;
  const auto module = ptx::parse(kSecondOwnerText, "second_owner.ptx", emitter);
  ASSERT_TRUE(module.has_value());
  ASSERT_EQ(module->functions.size(), 1u);
  size_t found = 0;
  const auto& code = module->functions[0].instructions;
  for (uint32_t i = 0; i < code.size(); ++i) {
    const program::Place place{&*module, ptx::FunctionId(0), i};
    if (module->opcode_of(place.get()).form != ptx::FormId::tcgen05_dealloc) continue;
    const auto lines = schedule::source_lines(place);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].line, place.line());
    EXPECT_EQ(schedule::file_name(lines[0].file), "second_owner.ptx");
    ++found;
  }
  EXPECT_EQ(found, 1u);
}

}  // namespace
}  // namespace lw::casefile
