#include "schedule/hold.h"

#include <gtest/gtest.h>

#include "ptx/parser.h"
#include "schedule/line_index.h"

namespace lw::schedule {
namespace {

constexpr const char* kText = R"(.version 9.0
.target sm_90
.address_size 64
.file 1 "src/k.cu"
.visible .entry k(.param .u64 p)
{
.reg .b32 a, b;
.reg .b64 q;
.loc 1 10 3
ld.param.u64 q, [p];
.loc 1 11 3
ld.global.u32 a, [q];
add.u32 b, a, 1;
st.global.u32 [q], b;
ret;
}
)";

class HoldTest : public testing::Test {
 protected:
  HoldTest() : module_(ptx::parse(kText, "folder/k.ptx", emitter_)) {
    const auto count = static_cast<uint32_t>(module_->functions[0].instructions.size());
    for (uint32_t i = 0; i < count; ++i) {
      places_.push_back({&*module_, ptx::FunctionId(0), i});
    }
  }

  diagnose::Emitter emitter_;
  std::optional<ptx::Module> module_;
  std::vector<program::Place> places_;
};

TEST_F(HoldTest, IsReadAndWrittenAlike) {
  const std::string text = "hold 0.3@k.ptx:12#3 until 1.1.5@k.ptx:14#4.write";
  const auto holds = parse_holds(text, places_, emitter_);
  ASSERT_TRUE(holds);
  const Hold& hold = holds->front();
  EXPECT_EQ(hold.held.instruction, base::OpId(1));
  EXPECT_EQ(hold.held.n, 3u);
  EXPECT_EQ(hold.until.lanes, 1u << 5);
  EXPECT_EQ(hold.until.moment, Moment::write_done);
  EXPECT_EQ(hold_text(hold, places_), text);
}

TEST_F(HoldTest, MayEndAtTheNextExecution) {
  const std::string text = "hold 0.3@k.ptx:12#3 until 1.1@k.ptx:14#next";
  const auto holds = parse_holds(text, places_, emitter_);
  ASSERT_TRUE(holds);
  EXPECT_EQ(holds->front().until.n, kNext);
  EXPECT_EQ(hold_text(holds->front(), places_), text);
  EXPECT_FALSE(parse_holds("hold 0.3@k.ptx:12#next until 1.1@k.ptx:14#1", places_, emitter_));
}

TEST_F(HoldTest, LivesOnBySourceLine) {
  const auto holds = parse_holds("hold 0.3@k.ptx:12#3 until 0.1@k.ptx:14#4", places_, emitter_);
  ASSERT_TRUE(holds);
  const std::string by_source = hold_source_text(holds->front(), places_);
  EXPECT_EQ(by_source, "hold 0.3@k.cu:11/1#3 until 0.1@k.cu:11/2#4");
  const auto again = parse_holds(by_source, places_, emitter_);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->front().held, holds->front().held);
  EXPECT_EQ(again->front().until, holds->front().until);
}

TEST_F(HoldTest, SaysWhatIsWrong) {
  for (const char* text : {"hold", "hold x until y", "hold 0.3@k.ptx:12#0 until 0.1@k.ptx:14#4",
                           "hold 0.3@k.ptx:99#1 until 0.1@k.ptx:14#4"}) {
    diagnose::Emitter emitter;
    EXPECT_FALSE(parse_holds(text, places_, emitter)) << text;
    EXPECT_FALSE(emitter.empty());
  }
}

}  // namespace
}  // namespace lw::schedule
