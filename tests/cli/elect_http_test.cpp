// holdfast elect --listen: what a candidate answers to probes.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/http_client.hpp"
#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

using nlohmann::json;

words lead_and_listen(words options = {}) {
  options.insert(options.begin(), {"elect", "--listen", "0"});
  options.insert(options.end(), {"a", "--", "sh", "-c", "echo leads; exec cat"});
  return options;
}

json leader_at(std::uint16_t port) {
  const auto said = http_get(port, "/leader");
  auto object = json::parse(said.body);
  EXPECT_EQ(said.status, object["leader"].get<bool>() ? 200 : 503) << said.body;
  return object;
}

// Of a metric with one label.
std::string metric(std::uint16_t port, const std::string& name) {
  const auto text = http_get(port, "/metrics").body;
  const auto line = text.find("\n" + name + "{election=\"a\"} ");
  if (line == text.npos) return "there is no " + name + " in " + text;
  const auto from = text.find(' ', line) + 1;
  return text.substr(from, text.find('\n', from) - from);
}

TEST_P(CommandLine, ALeaderSaysSoAndACandidateThatItWaits) {
  const auto server = start();
  child_process first(call_at(server, lead_and_listen()));
  ASSERT_TRUE(first.wait_for_output("leads"));
  child_process second(call_at(server, lead_and_listen()));
  const auto leads = port_of(first);
  const auto waits = port_of(second);
  const auto said = leader_at(leads);
  EXPECT_TRUE(said["leader"].get<bool>());
  EXPECT_EQ(said["election"], "a");
  EXPECT_THAT(first.errors(), HasSubstr("with token " + said["token"].get<std::string>()));
  EXPECT_GT(said["remaining_ms"].get<int>(), 0);
  EXPECT_LE(said["remaining_ms"].get<int>(), 30'000);
  EXPECT_FALSE(leader_at(waits)["leader"].get<bool>());
  EXPECT_EQ(http_get(leads, "/ready").body, "leads\n");
  EXPECT_TRUE(eventually([&] { return http_get(waits, "/ready").body == "campaigns\n"; }));
  EXPECT_EQ(http_get(waits, "/healthz").status, 200);
  EXPECT_EQ(metric(leads, "holdfast_election_leader"), "1");
  EXPECT_EQ(metric(waits, "holdfast_election_leader"), "0");
  EXPECT_EQ(metric(leads, "holdfast_election_terms_total"), "1");
  EXPECT_THAT(http_get(leads, "/metrics").body, HasSubstr("holdfast_held{kind=\"mutex\"} 1"));
  first.close_input();
  EXPECT_EQ(first.wait(), exited(0));
  EXPECT_TRUE(eventually([&] { return leader_at(waits)["leader"].get<bool>(); }));
}

// Each thread of it: a signal that stops takes a moment to reach them.
bool is_stopped(pid_t pid) {
  const auto tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::ifstream file(task.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    if (stat.find(") T ") == stat.npos) return false;
  }
  return true;
}

TEST_P(CommandLine, AFrozenLeaderDoesNotSayThatItLeadsWhenAnotherMay) {
  const auto server = start();
  const words options = {"--lease", "600ms", "--grace", "100ms"};
  child_process first(call_at(server, lead_and_listen(options)));
  ASSERT_TRUE(first.wait_for_output("leads"));
  const auto was_first = port_of(first);
  ASSERT_TRUE(leader_at(was_first)["leader"].get<bool>());
  child_process second(call_at(server, lead_and_listen(options)));
  const auto is_next = port_of(second);
  ASSERT_TRUE(eventually([&] { return server.command({"ZCARD", "hf:{a}:w"}).number == 1; }));
  first.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return is_stopped(first.pid()); }));
  // The kernel takes the question for it, and the answer comes when it goes on.
  support::raw_connection question(http_endpoint(was_first));
  question.send(http_request("/leader"));
  ASSERT_TRUE(eventually([&] { return leader_at(is_next)["leader"].get<bool>(); }));
  first.signal(SIGCONT);
  EXPECT_EQ(parse_answer(read_to_end(question)).status, 503);
  EXPECT_TRUE(leader_at(is_next)["leader"].get<bool>());
  EXPECT_TRUE(
      eventually([&] { return metric(was_first, "holdfast_election_losses_total") == "1"; }));
}

TEST_P(CommandLine, ALeaderWhoseServerIsFrozenSaysSoNoLongerThanItsLease) {
  auto server = start();
  const words options = {"--lease", "600ms", "--grace", "100ms", "--response-timeout", "200ms"};
  child_process first(call_at(server, lead_and_listen(options)));
  ASSERT_TRUE(first.wait_for_output("leads"));
  child_process second(call_at(server, lead_and_listen(options)));
  ASSERT_TRUE(eventually([&] { return server.command({"ZCARD", "hf:{a}:w"}).number == 1; }));
  const auto was_first = port_of(first);
  const auto is_next = port_of(second);
  server.freeze();
  const auto said = leader_at(was_first);
  EXPECT_TRUE(said["leader"].get<bool>());
  EXPECT_LE(said["remaining_ms"].get<int>(), 600);
  EXPECT_TRUE(eventually([&] { return !leader_at(was_first)["leader"].get<bool>(); }));
  EXPECT_EQ(http_get(was_first, "/healthz").status, 200) << "it answers though its server does not";
  EXPECT_EQ(metric(was_first, "holdfast_election_leader"), "0");
  EXPECT_EQ(metric(was_first, "holdfast_election_lease_remaining_seconds"), "0");
  server.thaw();
  EXPECT_TRUE(eventually([&] { return leader_at(is_next)["leader"].get<bool>(); }));
  EXPECT_FALSE(leader_at(was_first)["leader"].get<bool>());
}

TEST_P(CommandLine, WhoListensForOtherMachinesIsWarned) {
  const auto server = start();
  for (const auto* open : {"*:0", "0.0.0.0:0"}) {
    child_process program(call_at(server, {"elect", "--listen", open, "a", "--", "cat"}));
    EXPECT_TRUE(program.wait_for_errors("there is no log-in")) << program.errors();
    constexpr std::string_view told = "listens at http://";
    const auto& said = program.errors();
    const auto colon = said.find(':', said.find(told) + told.size());
    const auto port = static_cast<std::uint16_t>(std::atoi(said.c_str() + colon + 1));
    EXPECT_EQ(http_get(port, "/healthz").status, 200) << open;
  }
  child_process program(call_at(server, {"elect", "--listen", "0", "b", "--", "cat"}));
  EXPECT_NE(port_of(program), 0);
  ASSERT_TRUE(program.wait_for_errors("leads 'b'"));
  EXPECT_THAT(program.errors(), Not(HasSubstr("other machines")));
}

TEST_P(CommandLine, ACandidateThatCannotListenDoesNotCampaign) {
  const auto server = start();
  child_process first(call_at(server, lead_and_listen()));
  const auto taken = std::to_string(port_of(first));
  const auto refused =
      holdfast_at(server, {"elect", "--listen", taken, "b", "--", "sh", "-c", "echo ran"});
  EXPECT_EQ(refused.how, exited(78));
  EXPECT_THAT(refused.errors, HasSubstr("cannot listen at 127.0.0.1:" + taken));
  EXPECT_THAT(refused.output, IsEmpty());
  for (const auto* wrong : {"no port", "::1:80", "127.0.0.1:", "70000", "[::1]"}) {
    EXPECT_EQ(holdfast_at(server, {"elect", "--listen", wrong, "b", "--", "true"}).how, exited(64))
        << wrong;
  }
}

}  // namespace
}  // namespace holdfast::cli_tests
