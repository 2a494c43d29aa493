#pragma once
// A kernel of ours beside those of the case (`--antagonist`): on a stream of its own, resident
// where the case leaves room, doing nothing wrong. What a case does wrong with a resource of the SM
// that it shares with others then shows in the case's own outputs.
//
// `tmem`: the next owner of columns of tensor memory (second_owner.ptx). Freed columns keep their
// bits until somebody else writes them, so that loads which come too late find what they expect as
// long as nobody does.
//
// A launch has a CTA for every place beside the CTAs of the case that start at once, as many as
// make sure of one on each of their SMs; where there is no place yet, enough for those that come
// free.

#include <string_view>

#include "casefile/inputs.h"

namespace lw::casefile {

// Queues the launch behind those of the case.
void add_second_owner(SetUp& set_up);

// The text of second_owner.ptx; it is made a part of the program by CMake.
extern const std::string_view kSecondOwnerText;

}  // namespace lw::casefile
