// The report at the end of the demo.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "cli/demo/story.hpp"

namespace holdfast::cli::demo {

std::string as_table(const std::vector<outcome>& results);
nlohmann::ordered_json as_json(const sale& all, const std::vector<outcome>& results);
bool as_promised(const std::vector<outcome>& results);  // (a) and (b) wrong, (c) and (d) exact

}  // namespace holdfast::cli::demo
