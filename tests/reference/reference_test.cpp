// Plays every kind beside its model, for so long (scripts/reference):
//   HOLDFAST_REFERENCE_SECONDS   in all, divided among kinds and servers (60)
//   HOLDFAST_REFERENCE_SEED      the first seed; each round has the next one (1)
//   HOLDFAST_REFERENCE_KIND      this kind alone
//   HOLDFAST_REFERENCE_ROUNDS    so many rounds at most; 1 replays one seed
//   HOLDFAST_REFERENCE_FAILURES  goes on until so many rounds have failed (1)
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <tuple>

#include "net/clock.hpp"
#include "reference/kinds.hpp"
#include "reference/run.hpp"
#include "support/each_server.hpp"

namespace holdfast::reference {
namespace {

std::string said(const char* variable, const std::string& otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

// Kinds that need no second of theirs: a round is a few commands.
nanoseconds share_of_time() {
  const auto seconds = std::stod(said("HOLDFAST_REFERENCE_SECONDS", "60"));
  const auto kinds = said("HOLDFAST_REFERENCE_KIND", "").empty() ? played_kinds().size() : 1;
  const auto servers = std::max<std::size_t>(support::server_programs().size(), 1);
  return nanoseconds{
      static_cast<std::int64_t>(seconds * 1e9 / static_cast<double>(kinds * servers))};
}

class Reference : public ::testing::TestWithParam<std::tuple<std::string, played_kind>> {
 protected:
  void SetUp() override {
    const auto& program = std::get<0>(GetParam());
    const auto programs = support::server_programs();
    if (std::ranges::find(programs, program) == programs.end()) {
      GTEST_SKIP() << program << " is not installed, or HOLDFAST_TEST_SERVERS leaves it out";
    }
    const auto only = said("HOLDFAST_REFERENCE_KIND", "");
    if (!only.empty() && only != std::get<1>(GetParam()).name) GTEST_SKIP() << "only " << only;
  }
};

TEST_P(Reference, DoesWhatTheDocumentsSay) {
  const auto& [program, kind] = GetParam();
  const support::private_server server{{.program = program}};
  world on{server};
  const auto first = std::stoull(said("HOLDFAST_REFERENCE_SEED", "1"));
  const auto most = std::stoull(said("HOLDFAST_REFERENCE_ROUNDS", "1000000000"));
  const auto until = net::now() + share_of_time();
  const auto enough = std::stoull(said("HOLDFAST_REFERENCE_FAILURES", "1"));
  std::uint64_t rounds = 0, failures = 0;
  std::size_t operations = 0;
  do {
    run choices{on, kind.name, first + rounds};
    const auto replay = "scripts/reference --kind " + kind.name + " --seed " +
                        std::to_string(first + rounds) + " --rounds 1";
    try {
      kind.play(choices);
    } catch (const std::exception& broken) {
      ADD_FAILURE() << kind.name << " on " << program << ": " << broken.what() << "\n  so far:\n"
                    << choices.story() << "  again (as far as time allows): " << replay;
      ++failures;
    }
    operations += choices.operations();
    ++rounds;
  } while (failures < enough && rounds < most && net::now() < until);
  std::cout << kind.name << " on " << program << ": " << rounds << " rounds, " << operations
            << " operations, seeds from " << first << "\n";
}

std::string test_name(const ::testing::TestParamInfo<Reference::ParamType>& info) {
  auto name = std::get<1>(info.param).name + "_" + std::get<0>(info.param);
  for (auto& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(On, Reference,
                         ::testing::Combine(::testing::ValuesIn(support::supported_servers()),
                                            ::testing::ValuesIn(played_kinds())),
                         test_name);

}  // namespace

void PrintTo(const played_kind& kind, std::ostream* out) { *out << kind.name; }

}  // namespace holdfast::reference
