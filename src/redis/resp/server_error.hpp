// The meaning of a server's error reply for the caller. Exact texts: docs/server-errors.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <holdfast/errc.hpp>

namespace holdfast::resp {

struct server_error {
  errc code = errc::server_error;
  bool passing = false;    // may be gone when asked again: OOM, LOADING, BUSY, ...
  bool no_script = false;  // NOSCRIPT: send the text instead
  std::string detail;      // one sentence: the server's words, and what to do
};

// `text` is the error without its leading '-'. Also recognises the access errors that carry no
// NOPERM prefix ("ERR The user executing the script can't ...").
server_error classify(std::string_view text);

// How one reply is told: the first rule that fits wins. One row each of docs/server-errors.md,
// which the test compares with these.
struct server_error_rule {
  std::string_view begins;  // a whole word, or the beginning of a sentence
  errc code;
  bool passing;
  std::string_view advice;  // says what to do; ends the detail sentence
};
std::span<const server_error_rule> server_error_rules() noexcept;

}  // namespace holdfast::resp
