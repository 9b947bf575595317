// The stock over time as an SVG picture, a line for each scenario.
#pragma once

#include <string>
#include <vector>

#include "cli/demo/story.hpp"

namespace holdfast::cli::demo {

std::string picture(const std::vector<outcome>& results);

}  // namespace holdfast::cli::demo
