// The program over a Redis Cluster.
#include <nlohmann/json.hpp>
#include <optional>

#include "base/lock_key.hpp"
#include "cli/program.hpp"
#include "support/cluster_servers.hpp"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;

class CommandLineOverCluster : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    servers_.emplace(support::cluster_settings{.program = GetParam(), .masters = 2});
    for (const std::size_t master : {0, 1}) names_.push_back(servers().name_at(master, "a"));
  }
  support::cluster_servers& servers() { return *servers_; }
  const words& names() const { return names_; }  // one at each master

  program_call call_of(words arguments) {
    return call(std::move(arguments), {"HOLDFAST_URL=" + servers().url()});
  }
  finished ask(words arguments) { return support::run(call_of(std::move(arguments))); }
  json status(const std::string& name) {
    return json::parse(ask({"status", "--json", name}).output)["locks"][0];
  }

  void asks_the_master_of_each_lock();
  void follows_a_slot_that_moves_meanwhile();
  void shows_what_can_be_seen_of_a_half_moved_slot();
  void shows_what_can_be_seen_without_a_master();

 private:
  std::optional<support::cluster_servers> servers_;
  words names_;
};
HOLDFAST_ON_EACH_SERVER(CommandLineOverCluster);

// Says its token, and goes on until its input ends.
words run_and_tell(const std::string& name) {
  return {"run", "--lease", "3s", name, "--", "sh", "-c", "echo token $HOLDFAST_TOKEN.; exec cat"};
}

std::string token_of(const child_process& runs) {
  const auto begin = std::string_view("token ").size();
  return runs.output().substr(begin, runs.output().find('.') - begin);
}

void CommandLineOverCluster::asks_the_master_of_each_lock() {
  child_process first(call_of(run_and_tell(names()[0])));
  child_process second(call_of(run_and_tell(names()[1])));
  for (auto* each : {&first, &second}) ASSERT_TRUE(each->wait_for_output(".\n")) << each->errors();
  const auto listed = ask({"ls"});
  const auto table = ask({"status", names()[0], names()[1]});
  for (const auto& name : names()) {
    EXPECT_THAT(listed.output, HasSubstr("\n" + name + " ")) << listed.errors;
    EXPECT_THAT(table.output, ::testing::ContainsRegex("\n" + name + " +held ")) << table.errors;
    EXPECT_THAT(ask({"watch", "--count", "1", name}).output, HasSubstr("held by "));
    EXPECT_EQ(ask({"counter", name, "add", "2"}).output, "2\n");
    EXPECT_EQ(ask({"counter", name, "sub", "3"}).how, exited(1));
  }
  EXPECT_EQ(status(names()[0])["token"], token_of(first));
  EXPECT_EQ(status(names()[1])["token"], token_of(second));

  const auto broken = ask({"release", names()[1], "--force", "--reason", "a test"});
  EXPECT_THAT(broken.output, HasSubstr("broken: " + names()[1])) << broken.errors;
  EXPECT_EQ(second.wait(), exited(76));
  EXPECT_EQ(status(names()[1])["state"], "free");
  first.close_input();
  EXPECT_EQ(first.wait(), exited(0)) << first.errors();
  EXPECT_EQ(first.output(), "token " + token_of(first) + ".\n") << "run once";

  const auto healthy = ask({"doctor"});
  EXPECT_EQ(healthy.how, exited(0)) << healthy.output << healthy.errors;
  for (const std::size_t master : {0, 1}) {
    const auto port = std::to_string(servers().node(master).port());
    EXPECT_THAT(healthy.output, HasSubstr(port + ", 8192 slots: "));
  }
}

void CommandLineOverCluster::follows_a_slot_that_moves_meanwhile() {
  const auto name = servers().name_at(0, "moves");
  child_process holds(call_of(run_and_tell(name)));
  ASSERT_TRUE(holds.wait_for_output(".\n")) << holds.errors();
  child_process waits(call_of(run_and_tell(name)));
  ASSERT_TRUE(eventually([&] { return status(name)["waiting"] == 1; }));
  child_process watches(call_of({"watch", "--json", name}));
  ASSERT_TRUE(watches.wait_for_output("\n")) << watches.errors();
  EXPECT_EQ(ask({"counter", name, "add", "2"}).output, "2\n");

  servers().move(lock_key{name}.slot(), 0, 1);
  EXPECT_EQ(ask({"counter", name, "add", "2"}).output, "4\n");
  EXPECT_THAT(ask({"ls"}).output, HasSubstr("\n" + name + " "));
  EXPECT_EQ(status(name)["token"], token_of(holds)) << "the same grant as before";
  holds.close_input();
  EXPECT_EQ(holds.wait(), exited(0)) << holds.errors();
  ASSERT_TRUE(waits.wait_for_output(".\n")) << waits.errors();
  EXPECT_GT(std::stoull(token_of(waits)), std::stoull(token_of(holds)));
  EXPECT_TRUE(watches.wait_for_output("\"token\":\"" + token_of(waits) + "\"")) << watches.errors();
  waits.close_input();
  EXPECT_EQ(waits.wait(), exited(0)) << waits.errors();
}

// Its key is at another node than its queue, so its state can be asked for at neither.
void CommandLineOverCluster::shows_what_can_be_seen_of_a_half_moved_slot() {
  child_process first(call_of(run_and_tell(names()[0])));
  child_process second(call_of(run_and_tell(names()[1])));
  for (auto* each : {&first, &second}) ASSERT_TRUE(each->wait_for_output(".\n")) << each->errors();
  const lock_key key{names()[0]};
  servers().begin_to_move(key.slot(), 0, 1);
  servers().move_key(key.value_key(), 0, 1);
  for (const auto& command :
       {words{"ls"}, words{"ls", "--all-dialects"}, words{"status", names()[0], names()[1]}}) {
    const auto said = ask(command);
    EXPECT_EQ(said.how, exited(3)) << said.errors;
    EXPECT_THAT(said.output, HasSubstr("\n" + names()[1] + " ")) << command.back();
    EXPECT_THAT(said.errors, HasSubstr(names()[0] + " cannot be seen: "));
    EXPECT_THAT(said.errors, HasSubstr("is being moved to another node"));
  }
  const auto listed = json::parse(ask({"ls", "--json"}).output);
  EXPECT_EQ(listed["complete"], false);
  ASSERT_EQ(listed["locks"].size(), 1U);
  ASSERT_EQ(listed["unseen"].size(), 1U);
  EXPECT_EQ(listed["unseen"][0]["name"], names()[0]);
  EXPECT_EQ(ask({"status", names()[0]}).how, exited(69)) << "nothing can be seen";
  servers().move_keys(key.slot(), 0, 1);
  servers().end_to_move(key.slot(), 0, 1);
  servers().move(key.slot(), 1, 0);
  EXPECT_EQ(ask({"ls"}).how, exited(0));
  for (auto* each : {&first, &second}) {
    each->close_input();
    EXPECT_EQ(each->wait(), exited(0)) << each->errors();
  }
}

void CommandLineOverCluster::shows_what_can_be_seen_without_a_master() {
  for (const std::size_t master : {0, 1}) {
    servers().node(master).command({"CONFIG", "SET", "cluster-require-full-coverage", "no"});
  }
  child_process holds(call_of(run_and_tell(names()[0])));
  ASSERT_TRUE(holds.wait_for_output(".\n")) << holds.errors();
  const auto place = "127.0.0.1:" + std::to_string(servers().node(1).port());
  servers().node(1).kill9();
  for (const auto& command : {words{"ls"}, words{"ls", "--all-dialects"}}) {
    const auto said = ask(command);
    EXPECT_EQ(said.how, exited(3)) << said.errors;
    EXPECT_THAT(said.output, HasSubstr("\n" + names()[0] + " ")) << said.errors;
    EXPECT_THAT(said.errors, HasSubstr("the locks at " + place + " cannot be seen: "));
  }
  EXPECT_EQ(json::parse(ask({"ls", "--json"}).output)["unseen"][0]["server"], place);
  const auto both = ask({"status", names()[1], names()[0]});
  EXPECT_EQ(both.how, exited(3));
  EXPECT_THAT(both.output, HasSubstr("\n" + names()[0] + " "));
  EXPECT_THAT(both.errors, HasSubstr(names()[1] + " cannot be seen: "));
  servers().node(0).kill9();
  EXPECT_EQ(ask({"ls"}).how, exited(69));
}

// One cluster for all, since it takes seconds until it serves.
TEST_P(CommandLineOverCluster, EachCommandAsksWhoHasTheLockAlsoWhenItMoves) {
  asks_the_master_of_each_lock();
  follows_a_slot_that_moves_meanwhile();
  EXPECT_EQ(ask({"doctor"}).how, exited(0));
  shows_what_can_be_seen_of_a_half_moved_slot();
  shows_what_can_be_seen_without_a_master();
}

}  // namespace
}  // namespace holdfast::cli_tests
