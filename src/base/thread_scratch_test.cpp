#include "base/thread_scratch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace holdfast {
namespace {

using scratch = std::basic_string<char>;

TEST(ThreadScratch, IsOneForEachThread) {
  auto& mine = thread_scratch<scratch>();
  EXPECT_EQ(&thread_scratch<scratch>(), &mine);
  std::thread{[&] { EXPECT_NE(&thread_scratch<scratch>(), &mine); }}.join();
}

// Made before the scratch, so it ends after it.
struct ends_late {
  std::string* found;
  ~ends_late() {
    auto& late = thread_scratch<scratch>();
    late += "late";
    *found = late;
    delete &late;  // nobody else does
  }
};

TEST(ThreadScratch, IsMadeAnewForWhoComesLate) {
  std::string found;
  std::thread{[&] {
    thread_local ends_late object{nullptr};
    object.found = &found;
    thread_scratch<scratch>() = "too long for the place that a string has in itself, and early";
  }}.join();
  EXPECT_EQ(found, "late");
}

}  // namespace
}  // namespace holdfast
