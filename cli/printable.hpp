// Text from other people, made fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

// UTF-8 that a reader can see is kept. Control bytes, escapes, text direction marks, invisible
// characters, invalid UTF-8 and the backslash become \n, \x1b, \u{202e}, \\ and so on: nothing can
// steer the terminal or pass for something else.
std::string printable(std::string_view text);

// As above, for messages, in which names are mostly escaped already: a backslash is kept.
std::string printable_message(std::string_view text);

// The text itself where it is UTF-8; bytes that are none become \xNN. For formats that take any
// character and no other byte, such as JSON.
std::string as_utf8(std::string_view text);

// Whether the text is valid UTF-8.
bool is_utf8(std::string_view text);

// How many columns a terminal needs for text that is printable.
std::size_t width(std::string_view printable_text);

}  // namespace holdfast::cli
