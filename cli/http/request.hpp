// What a client of the HTTP server asks for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli::http {

struct request {
  std::string path;                          // as it was sent: not decoded
  std::map<std::string, std::string> query;  // decoded; of several with one name, the first
};

// Reads "/path?name=value&...". Nothing for a target that cannot be decoded.
std::optional<request> parse_target(std::string_view target);

// %XX as the byte that it means, any byte. Nothing for a % without two digits.
std::optional<std::string> percent_decoded(std::string_view text);

// The reverse: all but letters, digits and -._~ is encoded.
std::string percent_encoded(std::string_view bytes);

}  // namespace holdfast::cli::http
