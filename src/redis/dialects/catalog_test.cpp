#include "redis/dialects/catalog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace holdfast::dialects {
namespace {

TEST(catalog, lists_every_kind_once_with_its_recipe) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const catalog_entry& entry : catalog()) {
    const auto& what = entry.what;
    EXPECT_TRUE(seen.emplace(what.dialect, what.kind).second) << what.kind;
    const bool is_foreign = what.dialect != "holdfast";
    EXPECT_EQ(entry.how != nullptr, what.handed_over || is_foreign) << what.kind;
    EXPECT_FALSE(what.handed_over && !what.told) << what.kind;
    EXPECT_FALSE(what.handed_over && entry.scripts.empty()) << what.kind;
    EXPECT_FALSE(what.fair && what.passed_on) << what.kind;
  }
  EXPECT_EQ(catalog()[0].how, &native_mutex(fencing::on));
  EXPECT_EQ(catalog()[1].how, &native_mutex(fencing::off));
  EXPECT_NE(&native_mutex(fencing::on), &native_mutex(fencing::off));
}

TEST(catalog, has_scripts_that_say_what_they_take_and_return) {
  for (const catalog_entry& entry : catalog()) {
    for (const resp::script* script : entry.scripts) {
      EXPECT_EQ(script->sha1.size(), 40U);
      EXPECT_TRUE(script->text.starts_with("-- ")) << script->name;
      for (const char* part : {"\n-- KEYS ", "\n-- Returns"}) {
        EXPECT_NE(script->text.find(part), script->text.npos) << script->name << part;
      }
      EXPECT_TRUE(std::all_of(script->text.begin(), script->text.end(), [](char c) {
        return c == '\n' || (c >= ' ' && c <= '~');
      })) << script->name;
    }
  }
}

}  // namespace
}  // namespace holdfast::dialects
