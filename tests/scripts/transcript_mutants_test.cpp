// Which mutants of scripts the transcripts notice: tools/mutate.py asks, with thousands of them for
// one server. HOLDFAST_MUTANTS names a file of
//   mutant <number> <transcript,transcript,...>
//   script <name> <bytes>        and then its text; of each script that has the mutant
// and what is noticed is written behind it, to a file that ends in .out: a line for each mutant,
//   <number> <transcript>: <the first line at which something else is answered>
//   <number>                     nothing was noticed
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>

#include "scripts/transcript.hpp"
#include "support/each_server.hpp"

namespace holdfast::dialects {
namespace {

using namespace std::chrono_literals;

std::string transcript_named(const std::string& name) {
  std::ifstream file(std::string(HOLDFAST_TRANSCRIPTS) + "/" + name + ".txt");
  return {std::istreambuf_iterator<char>(file), {}};
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
        if (const auto line = played_->first_difference(transcript_named(name))) {
          return name + ": " + *line;
        }
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
  void set_up() {
    server_ = std::make_unique<support::private_server>(support::server_settings{
        .program = support::server_programs().front(), .environment = clock_.environment()});
    played_ = std::make_unique<transcript>(*server_, clock_, 5s);
    ASSERT_TRUE(played_->clock_stands_still());
  }

  support::clock_shim clock_;
  std::unique_ptr<support::private_server> server_;
  std::unique_ptr<transcript> played_;
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
