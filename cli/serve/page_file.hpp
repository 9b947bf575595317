// The files of the page, which are a part of this program.
#pragma once

#include <string_view>

namespace holdfast::cli {

struct page_file {
  std::string_view path;  // "/page.css"
  std::string_view type;  // "text/css; charset=utf-8"
  std::string_view content;
};

// "/" is index.html. Null when there is no such file.
const page_file* find_page_file(std::string_view path);

}  // namespace holdfast::cli
