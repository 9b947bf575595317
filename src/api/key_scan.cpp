#include "api/key_scan.hpp"

#include <algorithm>
#include <utility>

#include <holdfast/errc.hpp>

#include "api/ask.hpp"

namespace holdfast::api {
namespace {

constexpr std::size_t longest_step = 1000;

}  // namespace

bool key_scan::walk(redis::connection& over, std::string_view match, const taking& take) {
  std::string cursor = "0";
  while (left_ > 0) {
    const auto count = std::min(longest_step, left_);
    left_ -= count;
    auto answer =
        answer_to(core_, over, {"SCAN", cursor, "MATCH", match, "COUNT", std::to_string(count)});
    if (answer.items.size() != 2) {
      throw failure{errc::server_error, "SCAN was answered strangely"};
    }
    std::vector<std::string> keys;
    for (auto& key : answer.items[1].items) keys.push_back(std::move(key.text));
    const bool enough = !take(keys);
    cursor = std::move(answer.items[0].text);
    if (cursor == "0") return true;
    if (enough) return false;
  }
  return false;
}

}  // namespace holdfast::api
