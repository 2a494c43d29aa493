#include "report/names.h"

#include <gtest/gtest.h>

#include "report/report.h"

namespace lw::report {
namespace {

TEST(Names, WritesNumbersForPeople) {
  EXPECT_EQ(counted(0), "0");
  EXPECT_EQ(counted(999), "999");
  EXPECT_EQ(counted(1234567), "1,234,567");
  EXPECT_EQ(ordinal(1), "1st");
  EXPECT_EQ(ordinal(12), "12th");
  EXPECT_EQ(ordinal(23), "23rd");
  EXPECT_EQ(plural(1, "warp"), "1 warp");
  EXPECT_EQ(plural(2, "warp"), "2 warps");
}

TEST(Diagnostics, ShowPlaceTextAndHint) {
  diagnose::Emitter emitter;
  emitter.emit(
      {{"no_such_file.ptx", 3, 7}, "unknown opcode `plus`", "plus.u64 a, b;", "write `add`"});
  emitter.emit({{"--grid x", 0, 0}, "`x` is no extent", {}, {}});
  EXPECT_EQ(diagnostics_text(emitter, {}),
            "no_such_file.ptx:3:7: unknown opcode `plus`\n"
            "    plus.u64 a, b;\n"
            "    hint: write `add`\n"
            "--grid x: `x` is no extent\n");
}

}  // namespace
}  // namespace lw::report
