#pragma once
// Short forms of what most bind functions do.

#include "machine/semantics/bind.h"

namespace lw::machine {

// d, a: all of the instruction's first type.
inline void emit_2(Decoder& decoder, program::Handlers handlers) {
  decoder.emit(handlers, decoder.result(0), decoder.source(1));
}
inline void emit_3(Decoder& decoder, program::Handlers handlers) {
  decoder.emit(handlers, decoder.result(0), decoder.source(1), decoder.source(2));
}
inline void emit_4(Decoder& decoder, program::Handlers handlers) {
  decoder.emit(handlers, decoder.result(0), decoder.source(1), decoder.source(2),
               decoder.source(3));
}

}  // namespace lw::machine
