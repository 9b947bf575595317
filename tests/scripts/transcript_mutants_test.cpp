// Which mutants of scripts the transcripts notice: tools/mutate.py asks, with thousands of them for
// one server. HOLDFAST_MUTANTS names a file of
//   mutant <number> <transcript,transcript,...>
//   script <name> <bytes>        and then its text; of each script that has the mutant
// and what is noticed is written behind it, to a file that ends in .out: a line for each mutant,
//   <number> <transcript>: <the first line at which something else is answered>
//   <number>                     nothing was noticed
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "scripts/transcript.hpp"
#include "support/each_server.hpp"

namespace holdfast::dialects {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> scenes_of(const std::string& name) {
  std::ifstream file(std::string(HOLDFAST_TRANSCRIPTS) + "/" + name + ".txt");
  return transcript::scenes_of({std::istreambuf_iterator<char>(file), {}});
}

// A server that is replaced when a mutant has hung it.
class stage {
 public:
  std::string what_is_noticed(const transcript::texts& mutated, const std::string& transcripts) {
    std::istringstream names(transcripts);
    for (std::string name; std::getline(names, name, ',');) {
      try {
        if (!server_) set_up();
        played_->replace_scripts(mutated);
        if (const auto line = first_difference(scenes(name))) return name + ": " + *line;
      } catch (const std::exception&) {
        played_.reset();
        server_->kill9();
        server_.reset();
        return name + ": no answer";
      }
    }
    return {};
  }

 private:
  std::list<std::string>& scenes(const std::string& name) {
    auto& all = scenes_[name];
    if (all.empty()) std::ranges::copy(scenes_of(name), std::back_inserter(all));
    return all;
  }

  // What noticed the last mutants comes first: those of one file are much alike.
  std::optional<std::string> first_difference(std::list<std::string>& scenes) {
    for (auto it = scenes.begin(); it != scenes.end(); ++it) {
      const auto line = played_->first_difference(*it);
      if (!line) continue;
      scenes.splice(scenes.begin(), scenes, it);
      return line;
    }
    return std::nullopt;
  }

  void set_up() {
    server_ = std::make_unique<support::private_server>(support::server_settings{
        .program = support::server_programs().front(), .environment = clock_.environment()});
    played_ = std::make_unique<transcript>(*server_, clock_, 5s);
    ASSERT_TRUE(played_->clock_stands_still());
  }

  support::clock_shim clock_;
  std::unique_ptr<support::private_server> server_;
  std::unique_ptr<transcript> played_;
  std::map<std::string, std::list<std::string>> scenes_;
};

TEST(TranscriptsOfMutants, AreCompared) {
  const char* const path = std::getenv("HOLDFAST_MUTANTS");
  if (path == nullptr) GTEST_SKIP() << "tools/mutate.py has not asked";
  std::ifstream asked(path);
  std::ofstream told(std::string(path) + ".out");
  stage here;
  std::string word, number, transcripts, name;
  transcript::texts mutated;
  const auto conclude = [&] {
    if (number.empty()) return;
    told << number << ' ' << here.what_is_noticed(mutated, transcripts) << std::endl;
    mutated.clear();
  };
  while (asked >> word) {
    if (word == "mutant") {
      conclude();
      asked >> number >> transcripts;
    } else {
      std::size_t size = 0;
      asked >> name >> size;
      asked.get();
      std::string text(size, ' ');
      asked.read(text.data(), static_cast<std::streamsize>(size));
      mutated[name] = text;
    }
  }
  conclude();
}

}  // namespace
}  // namespace holdfast::dialects
