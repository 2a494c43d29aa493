#pragma once
// What names mean, by scope. A name is looked up several times per instruction, so the table is one
// open-addressing hash for all scopes of a function; leaving a scope puts back what it had hidden.

#include <cstdint>
#include <string_view>
#include <vector>

namespace lw::ptx {

// `doubtful`: a name that a mistake hides, or that has been complained about.
enum class SymbolKind : uint8_t { none, reg, variable, function, list, doubtful };

struct Symbol {
  SymbolKind kind = SymbolKind::none;
  uint32_t id = 0;
  uint32_t scope = 0;  // depth it was declared at
};

class SymbolTable {
 public:
  SymbolTable() : slots_(kFirstSize) {}

  Symbol find(std::string_view name) const { return slots_[slot_of(name)].symbol_in(generation_); }

  // Names at depth 0 stay; `open` and `close` bracket the others. Names are views: the text they
  // are cut from must live as long as the table.
  void bind(std::string_view name, SymbolKind kind, uint32_t id) { bind(name, kind, id, depth()); }
  void bind(std::string_view name, SymbolKind kind, uint32_t id, uint32_t scope);
  void open() { scopes_.emplace_back(); }
  void close();
  void clear();  // every name, for the next function

  uint32_t depth() const { return static_cast<uint32_t>(scopes_.size()); }

 private:
  static constexpr size_t kFirstSize = 1024;  // a power of two, as every later size

  struct Slot {
    std::string_view name;
    uint32_t generation = 0;
    Symbol symbol;

    Symbol symbol_in(uint32_t now) const { return generation == now ? symbol : Symbol{}; }
  };
  struct Hidden {
    std::string_view name;
    Symbol before;
  };

  size_t slot_of(std::string_view name) const;
  void put(std::string_view name, Symbol symbol);
  void grow();

  std::vector<Slot> slots_;
  std::vector<std::vector<Hidden>> scopes_;
  uint32_t generation_ = 1;
  size_t used_ = 0;
};

// A fast hash of short names.
uint64_t hash_text(std::string_view text);

}  // namespace lw::ptx
