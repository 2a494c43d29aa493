#pragma once
// Where reading goes on after a mistake, so that one mistake makes one message.
//
// The statement that failed is read again as plain tokens, from its first one, for only then is it
// known which braces belong to it. It ends behind its `;`, before the brace that closes what it
// stands in, or, where the `;` is missing, before the first token of a line that looks like the
// begin of another statement; never before the token that was in the way. After a declaration that
// could not be read, nothing is said about undeclared names; after a statement that lasts to the
// end of the text, nothing at all.
//
// Limit: what looks like a statement is a guess from the layout. Text in one line recovers at the
// next `;`. Tested by tests/bad_input.

#include "ptx/parse/context.h"

namespace lw::ptx {

// In a body; to the end of the statement that began at `start`.
void skip_statement(Context& context, const Cursor::Mark& start);

// In a module; to the end of the declaration that began at `start`, or of the body behind it.
void skip_declaration(Context& context, const Cursor::Mark& start);

// Directives that stand in modules only: behind a missing brace they end a body.
bool begins_declaration(const Cursor& cursor);

// Directives that stand in bodies only.
bool begins_body(const Cursor& cursor);

}  // namespace lw::ptx
