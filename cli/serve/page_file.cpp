#include "cli/serve/page_file.hpp"

#include <algorithm>
#include <iterator>

#include "page_files.hpp"

namespace holdfast::cli {

const page_file* find_page_file(std::string_view path) {
  const auto found =
      std::ranges::find(page_files, path == "/" ? "/index.html" : path, &page_file::path);
  return found == page_files.end() ? nullptr : &*found;
}

}  // namespace holdfast::cli
