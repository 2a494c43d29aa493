// Loops that read a word until a test of its value passes (rule book 17.2, D-6).
//
// What the test is the engine does not know. It hears of reads that poll, and of the lanes that
// went around again: the last read of a loop is the one that passed. In every schedule the loop
// ends with the same value, and gives the same edge, if
//   - one write alone is such that the reader does not know of it before it reads, or there are
//     more but they come in one order in every schedule (turns that threads take). Of others, some
//     may have been enough;
//   - without the last of them the test fails. That is proven if the lanes were seen to go around
//     with the word as each of them found it; else the fact is `awaited`, and a run that holds each
//     back until the lanes have polled can prove it;
//   - no later write may come before the passing read, since the test might fail again.

#include <algorithm>

#include "order/core.h"

namespace lw::order {
namespace {

constexpr size_t kMostPolls = 256;  // of one word; more count as not forced

bool same_reader(const Word::Event& a, const Word::Event& b) {
  return a.cta == b.cta && a.event.warp == b.event.warp && a.event.lanes == b.event.lanes &&
         a.event.op == b.event.op;
}

// The latest read by these lanes.
Word::Poll* latest(Word& word, const Word::Event& read) {
  const auto at = std::find_if(word.polls.rbegin(), word.polls.rend(),
                               [&](const auto& one) { return same_reader(one.read, read); });
  return at == word.polls.rend() ? nullptr : &*at;
}

void open(Warp& warp, const WordKey& key, const Word::Event& now) {
  auto& polls = strong_of(warp).polls;
  std::erase_if(polls, [&](const OpenPoll& one) {
    return one.op == now.event.op && (one.lanes & now.event.lanes) != 0;
  });
  polls.push_back({key, now.event.op, now.event.lanes});
}

// Some of the lanes that read went around again, the others passed.
void fail(Word& word, uint32_t cta, const Warp& warp, const OpenPoll& poll, LaneMask again) {
  Word::Event read{cta, {cta, warp.index, poll.lanes, 0, poll.op}};
  Word::Poll* const found = latest(word, read);
  if (found == nullptr) return;
  Word::Poll failed = *found;
  if (poll.lanes == again) {
    found->failed = true;
    found->overtaken = false;
    return;
  }
  found->read.event.lanes &= ~again;
  failed.read.event.lanes = again;
  failed.failed = true;
  failed.overtaken = false;
  word.polls.push_back(failed);
}

// The last `count` writes, if they and the one before them form a chain.
std::vector<Word::Event> last_of_chain(const Word& word, size_t count) {
  const bool whole = word.chain.size() == word.version;
  if (count > word.chain.size() || (count == word.chain.size() && !whole)) return {};
  return {word.chain.end() - static_cast<std::ptrdiff_t>(count), word.chain.end()};
}

// In every schedule the lanes go around until the same write has come.
bool is_forced(const Word::Poll& poll) {
  if (poll.unknown == 0) return true;
  const bool in_one_order = poll.unknown == 1 || poll.chain.size() == poll.unknown;
  return in_one_order && poll.lowest + poll.unknown <= poll.version;
}

// The lanes have gone around and read again.
void go_on(Word::Poll& poll, const Word::Poll& before, const Word& word) {
  if (before.version + 1 >= word.version) poll.lowest = before.lowest;
  poll.first_version = before.first_version;
  poll.first_unknown = before.first_unknown;
  poll.unknown = poll.first_unknown + (word.version - poll.first_version);
  poll.write = word.version == poll.first_version ? before.write : word.last_writer;
  poll.chain = last_of_chain(word, poll.unknown);
}

Unforced fact_of(const WordKey& key, const Word::Event& first, Kind first_kind,
                 const Word::Event& second, Kind second_kind, uint64_t since) {
  Unforced fact;
  fact.rule = RuleId::kD6;
  fact.cta = CtaId{second.cta};
  fact.object = static_cast<uint32_t>(key.second);
  fact.first = party_of(first, first_kind);
  fact.second = party_of(second, second_kind);
  fact.since = since;
  return fact;
}

}  // namespace

void poll_read(const Core& core, Warp& warp, Word& word, const WordKey& key,
               const Word::Event& now) {
  Word::Poll poll;
  poll.read = now;
  poll.version = poll.lowest = word.version;
  open(warp, key, now);
  Word::Poll* const before = latest(word, now);
  if (before != nullptr && before->failed) {
    go_on(poll, *before, word);
    *before = poll;
    return;
  }
  for (const Word::Event& write : word.writes) {
    if (knows(core, warp, now.event.lanes, write)) continue;
    ++poll.first_unknown;
    poll.write = write;
    Word::Event earlier = write;
    earlier.event.count = write.before;
    if (write.repeated && !knows(core, warp, now.event.lanes, earlier)) ++poll.first_unknown;
  }
  poll.first_version = word.version;
  poll.unknown = poll.first_unknown;
  poll.chain = last_of_chain(word, poll.unknown);
  if (word.polls.size() == kMostPolls) poll.unknown += 2;  // says so, whatever comes
  if (word.polls.size() == kMostPolls) word.polls.back() = poll;
  if (word.polls.size() < kMostPolls) word.polls.push_back(poll);
}

void poll_written(const Core& core, const Warp& warp, Word& word, const Word::Event& now) {
  ++word.version;
  for (Word::Poll& poll : word.polls) {
    if (poll.failed || poll.overtaken || knows(core, warp, now.event.lanes, poll.read)) continue;
    poll.overtaken = true;
    poll.overtaker = now;
  }
}

void chain_written(const Core& core, const Warp& warp, Word& word, const Word::Event& now,
                   bool release) {
  const bool first = word.version == 1;
  const bool follows =
      release && (first || knows(core, warp, now.event.lanes, word.last_writer, View::kCausality));
  if (!follows || word.chain.size() == kMostPolls) word.chain.clear();
  word.chain.push_back(now);
}

void settle_polls(Core& core, Word& word, const WordKey& key) {
  for (const Word::Poll& poll : word.polls) {
    if (poll.failed) continue;
    Facts& facts = core.findings.facts();
    if (poll.unknown > 0 && poll.write.cta != poll.read.cta) facts.polls_other_ctas = true;
    if (poll.overtaken)
      core.findings.unforced(
          fact_of(key, poll.read, Kind::kRead, poll.overtaker, Kind::kWrite, poll.read.at));
    if (is_forced(poll)) continue;
    Unforced fact = fact_of(key, poll.write, Kind::kWrite, poll.read, Kind::kRead, poll.read.at);
    const std::vector<Word::Event> writes =
        poll.unknown == 1 ? std::vector{poll.write} : poll.chain;
    fact.awaited = writes.size() == poll.unknown;
    if (fact.awaited)
      for (const Word::Event& write : writes)
        facts.awaited.push_back({fact.second, party_of(write, Kind::kWrite)});
    core.findings.unforced(fact);
  }
  word.polls.clear();
}

void Engine::poll_again(Warp& warp, OpId op, LaneMask lanes) {
  if (!warp.strong) return;
  auto& polls = warp.strong->polls;
  for (OpenPoll& poll : polls) {
    const LaneMask again = poll.lanes & lanes;
    if (poll.op != op || again == 0) continue;
    const auto word = core_->words.find(poll.word);
    if (word != core_->words.end()) fail(word->second, warp.cta->id, warp, poll, again);
    poll.lanes = 0;
  }
  std::erase_if(polls, [](const OpenPoll& poll) { return poll.lanes == 0; });
}

// Lanes that poll in vain might have been content with what the word was before some write that
// they do not know of, unless they were seen to go around with that too.
void Engine::poll_blocked(Warp& warp, OpId op, LaneMask lanes) {
  for (const auto& [key, word] : core_->words) {
    for (const Word::Poll& poll : word.polls) {
      const Word::Event& read = poll.read;
      const bool theirs = read.cta == warp.cta->id && read.event.warp == warp.index &&
                          read.event.op == op && (read.event.lanes & lanes) != 0;
      if (!theirs || !poll.failed || is_forced(poll)) continue;
      core_->findings.unforced(fact_of(key, poll.write, Kind::kWrite, read, Kind::kRead, read.at));
    }
  }
}

}  // namespace lw::order
