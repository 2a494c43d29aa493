// PTX: Control Flow Instructions.
//
// Branches, calls and exits are not bound one by one: the decoder makes their Ops while it follows
// the flow of the program (program/flatten.cpp, program/decode.cpp; their handlers are
// machine/core_ops.cpp). These functions exist because every modelled form has one.

#include "base/check.h"
#include "machine/semantics/bind.h"

namespace lw::machine {
namespace {

void made_by_the_decoder(const Decoder& decoder) { LW_CHECK(false, decoder.opcode().text); }

}  // namespace

void bind_bra(Decoder& decoder) { made_by_the_decoder(decoder); }
void bind_brx_idx(Decoder& decoder) { made_by_the_decoder(decoder); }
void bind_call(Decoder& decoder) { made_by_the_decoder(decoder); }
void bind_ret(Decoder& decoder) { made_by_the_decoder(decoder); }
void bind_exit(Decoder& decoder) { made_by_the_decoder(decoder); }

}  // namespace lw::machine
