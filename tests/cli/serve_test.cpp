// holdfast serve: what it shows of servers that are there, frozen, away, or not for everybody.
#include <list>
#include <nlohmann/json.hpp>
#include <thread>

#include <holdfast/client.hpp>

#include "cli/http_client.hpp"
#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

using namespace std::string_literals;

HOLDFAST_ON_EACH_SERVER(CommandLine);

using namespace std::chrono_literals;
using nlohmann::json;

words serve_words(words options = {}) {
  options.insert(options.begin(), {"serve", "--listen", "0", "--refresh", "200ms",
                                   "--response-timeout", "200ms", "--connect-timeout", "200ms"});
  return options;
}

json get_json(std::uint16_t port, const std::string& path, int status = 200) {
  const auto said = http_get(port, "/api/v1/" + path);
  EXPECT_EQ(said.status, status) << path << ": " << said.body;
  EXPECT_THAT(said.head, HasSubstr(status == 200 ? "application/json" : "problem+json"));
  return json::parse(said.body);
}

// Of the first server.
json server_at(std::uint16_t port) { return get_json(port, "servers")["servers"][0]; }

bool sees_locks(std::uint16_t port, std::size_t count) {
  return eventually([&] {
    const auto one = server_at(port);
    return one["up"] == true && one["locks"] == count;
  });
}

TEST_P(CommandLine, ServesLocksTheirHoldersAndTheirWaiters) {
  const auto server = start();
  const holder has(server, "a");
  child_process waits(call_at(server, {"run", "a", "--", "true"}));
  const holder other(server, "other \"\\\n/%41\xff");
  child_process program(call_at(server, serve_words()));
  const auto port = port_of(program);
  ASSERT_TRUE(eventually([&] { return server_at(port)["waiters"] == 1; }));
  const auto about = server_at(port);
  EXPECT_EQ(about["locks_complete"], true);
  EXPECT_EQ(about["clients_complete"], true);
  EXPECT_GT(about["now_ms"].get<std::int64_t>(), 1'600'000'000'000);

  const auto list = get_json(port, "locks");
  ASSERT_EQ(list["total"], 2);
  const auto& first = list["locks"][0];
  EXPECT_EQ(first["name"], "a");
  EXPECT_EQ(first["state"], "held");
  EXPECT_EQ(first["kind"], "mutex");
  EXPECT_EQ(first["waiting"], 1);
  EXPECT_EQ(first["owner"]["pid"], has.pid());
  EXPECT_GE(first["oldest_wait_ms"].get<int>(), 0);
  EXPECT_LT(first["oldest_wait_ms"].get<int>(), 60'000);
  EXPECT_FALSE(first.contains("queue")) << "only of one lock";
  EXPECT_EQ(list["locks"][1]["name"], "other \"\\\n/%41\\xff");

  const auto one = get_json(port, "locks/a");
  EXPECT_EQ(one["lock"]["token"], first["token"]);
  EXPECT_EQ(one["lock"]["holders"][0]["client"]["pid"], has.pid());
  EXPECT_EQ(one["lock"]["queue"][0]["client"]["pid"], waits.pid());
  const auto name_url = list["locks"][1]["name_url"].get<std::string>();
  EXPECT_EQ(get_json(port, "locks/" + name_url)["lock"]["owner"]["pid"], other.pid());
  EXPECT_EQ(get_json(port, "locks/nobody-has-it")["lock"]["state"], "free");

  const auto graph = get_json(port, "waits");
  ASSERT_EQ(graph["edges"].size(), 1U);
  EXPECT_EQ(graph["edges"][0]["to"], first["owner"]["id"]);
  EXPECT_EQ(graph["nodes"].size(), 2U);
  EXPECT_TRUE(graph["cycles"].empty());
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), exited(0));
}

TEST_P(CommandLine, ServesPagesOfTheLocksThatAreWanted) {
  const auto server = start();
  const client redis{server.url()};
  std::vector<lease> held;
  for (int i = 10; i < 35; ++i) {
    held.push_back(redis.mutex("order:" + std::to_string(i)).acquire());
  }
  held.push_back(redis.semaphore("seats", {.permits = 3}).acquire());
  child_process program(call_at(server, serve_words()));
  const auto port = port_of(program);
  ASSERT_TRUE(sees_locks(port, 26));
  const auto names = [&](const std::string& query) {
    words all;
    const auto page = get_json(port, "locks?" + query);
    for (const auto& lock : page["locks"]) all.push_back(lock["name"]);
    return all;
  };
  EXPECT_EQ(names("prefix=order:&per_page=2"), (words{"order:10", "order:11"}));
  EXPECT_EQ(names("prefix=order%3A&per_page=10&page=3&order=asc"),
            (words{"order:30", "order:31", "order:32", "order:33", "order:34"}));
  EXPECT_EQ(names("per_page=2&sort=name&order=desc"), (words{"seats", "order:34"}));
  EXPECT_EQ(names("contains=3&per_page=2&sort=since"), (words{"order:13", "order:23"}));
  EXPECT_EQ(names("kind=semaphore"), words{"seats"});
  EXPECT_TRUE(names("waited=1").empty());
  EXPECT_TRUE(names("state=shut").empty());
  EXPECT_TRUE(names("page=4000").empty());
  EXPECT_EQ(get_json(port, "locks?prefix=order&per_page=10")["pages"], 3);
  for (const auto* wrong : {"page=0", "page=x", "page=-1", "per_page=1001", "sort=size", "order=up",
                            "state=open", "waited=2", "page=99999999999999999999"}) {
    EXPECT_THAT(get_json(port, std::string("locks?") + wrong, 400)["detail"].get<std::string>(),
                HasSubstr("the parameter "))
        << wrong;
  }
  get_json(port, "locks?server=nobody", 404);
  get_json(port, "no-such-thing", 404);
  get_json(port, "doctor", 404);
  const auto clients = get_json(port, "clients")["clients"];
  ASSERT_EQ(clients.size(), 1U) << "all is held by one client";
  EXPECT_EQ(clients[0]["holding"], 26);
}

TEST_P(CommandLine, AnswersAtOnceThoughItsServerIsFrozen) {
  auto server = start();
  const holder has(server, "a");
  child_process program(call_at(server, serve_words({"--name", "orders"})));
  const auto port = port_of(program);
  ASSERT_TRUE(sees_locks(port, 1));
  EXPECT_EQ(http_get(port, "/readyz").status, 200);
  server.freeze();
  ASSERT_TRUE(eventually([&] { return http_get(port, "/readyz").status == 503; }));
  EXPECT_THAT(http_get(port, "/readyz").body, HasSubstr("orders: "));
  const auto before = net::now();
  EXPECT_EQ(http_get(port, "/healthz").status, 200);
  EXPECT_THAT(http_get(port, "/metrics").body,
              HasSubstr("holdfast_server_up{server=\"orders\"} 0"));
  const auto seen = server_at(port);
  EXPECT_EQ(get_json(port, "locks")["total"], 1) << "what was seen last";
  EXPECT_LT(net::now() - before, 200ms) << "none of these has waited for the server";
  EXPECT_EQ(seen["up"], false);
  EXPECT_THAT(seen["error"].get<std::string>(), Not(IsEmpty()));
  EXPECT_GT(seen["age_ms"].get<int>(), 0);
  get_json(port, "locks/a", 504);
  server.thaw();
  EXPECT_TRUE(eventually([&] { return http_get(port, "/readyz").status == 200; }));
}

TEST_P(CommandLine, RefusesMoreQuestionsThanItCanAskAFrozenServer) {
  auto server = start();
  child_process program(call_at(server, serve_words()));
  const auto port = port_of(program);
  ASSERT_TRUE(sees_locks(port, 0));
  server.freeze();
  std::vector<std::unique_ptr<support::raw_connection>> questions;
  for (int i = 0; i < 60; ++i) {
    questions.push_back(std::make_unique<support::raw_connection>(http_endpoint(port)));
    questions.back()->send(http_request("/api/v1/locks/a"));
  }
  EXPECT_EQ(http_get(port, "/healthz").status, 200);
  int refused = 0;
  for (const auto& one : questions) {
    const auto said = parse_answer(read_to_end(*one));
    EXPECT_THAT(said.status, ::testing::AnyOf(503, 504));
    refused += said.status == 503 ? 1 : 0;
  }
  EXPECT_GE(refused, 20);
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), exited(0)) << "though the server is still frozen";
}

TEST_P(CommandLine, ShowsSeveralServersOfWhichOneMayBeAway) {
  const auto server = start();
  const holder has(server, "a");
  child_process program(
      call_at(server, serve_words({"--name", "here", "--also", "away=unix:///no/such/socket"})));
  const auto port = port_of(program);
  ASSERT_TRUE(sees_locks(port, 1));
  ASSERT_TRUE(eventually([&] {
    return http_get(port, "/metrics").body.find("holdfast_server_up{server=\"away\"} 0") !=
           std::string::npos;
  }));
  EXPECT_THAT(http_get(port, "/metrics").body, HasSubstr("holdfast_server_up{server=\"here\"} 1"));
  EXPECT_THAT(http_get(port, "/readyz").body, ::testing::StartsWith("away: "));
  EXPECT_EQ(get_json(port, "servers")["servers"][1]["looked_ms"], nullptr);
  EXPECT_EQ(get_json(port, "locks?server=here")["total"], 1);
  get_json(port, "locks?server=away", 503);
  for (const auto& wrong :
       {words{"--also", "x"}, words{"--also", "=redis://a"}, words{"--also", "default=redis://a"},
        words{"--refresh", "1ms"}, words{"--doctor-every", "60s"},
        words{"--also", "a=redis://user:secret@host"}}) {
    const auto refused = holdfast_at(server, serve_words(wrong));
    EXPECT_EQ(refused.how, exited(64)) << refused.errors;
    EXPECT_THAT(refused.errors, Not(HasSubstr("secret")));
  }
}

TEST_P(CommandLine, ServesWithTheRightsOfAViewerAlone) {
  const auto server = start();
  const auto line = holdfast({"acl", "orders:*", "--user", "viewer", "--kind", "viewer"}).output;
  words rule;
  std::istringstream text(line);
  for (std::string word; text >> word;) {
    rule.push_back(word == "#SHA256-OF-PASSWORD" ? ">s3cret" : word);
  }
  ASSERT_EQ(server.command(rule).text, "OK") << line;
  const holder has(server, "orders:1");
  const holder hidden(server, "wages");
  child_process program(call(serve_words({"--pattern", "orders:*"}),
                             {"HOLDFAST_URL=unix://" + server.socket(), "HOLDFAST_USER=viewer",
                              "HOLDFAST_PASSWORD=s3cret"}));
  const auto port = port_of(program);
  ASSERT_TRUE(sees_locks(port, 1));
  EXPECT_EQ(get_json(port, "locks/orders:1")["lock"]["owner"]["pid"], has.pid());
  EXPECT_THAT(http_get(port, "/api/v1/clients").body, HasSubstr(std::to_string(has.pid())));
  EXPECT_EQ(server_at(port)["unseen"].size(), 0U);
  EXPECT_EQ(server_at(port)["clients_complete"], true);
  const auto rights = json::parse(
      holdfast({"--json", "acl", "orders:*", "--user", "viewer", "--kind", "viewer"}).output);
  for (const auto& refused : server.command({"ACL", "LOG"}).items) {
    const auto object = std::ranges::find(refused.items, "object", &resp::value::text);
    ASSERT_NE(object, refused.items.end());
    EXPECT_THAT(rights["optional"].get<words>(), ::testing::Contains("+" + (object + 1)->text));
  }
  get_json(port, "locks/wages", 404);

  child_process stranger(call(serve_words(), {"HOLDFAST_URL=unix://" + server.socket(),
                                              "HOLDFAST_USER=viewer", "HOLDFAST_PASSWORD=wr0ng"}));
  const auto its_port = port_of(stranger);
  ASSERT_TRUE(eventually(
      [&] { return http_get(its_port, "/readyz").body.find("WRONGPASS") != std::string::npos; }));
  EXPECT_THAT(http_get(its_port, "/readyz").body, Not(HasSubstr("wr0ng")));
}

// Requests that are still to be answered keep nobody waiting, and the library that answers HTTP
// does not end the program.
TEST_P(CommandLine, ServeEndsUnderRequests) {
  const auto server = start();
  const auto request = "GET /api/v1/locks HTTP/1.1\r\nHost: localhost\r\n\r\n"s;
  std::string many;
  for (int i = 0; i < 400; ++i) many += request;
  for (int round = 0; round < 5; ++round) {
    child_process program(call_at(server, serve_words()));
    const auto port = port_of(program);
    ASSERT_TRUE(sees_locks(port, 0));
    std::list<support::raw_connection> clients;
    for (int i = 0; i < 12; ++i) clients.emplace_back(http_endpoint(port)).send(many);
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait(), exited(0));
  }
}

TEST_P(CommandLine, TheDoctorComesOnlyWhenItIsCalled) {
  const auto server = start();
  child_process without(call_at(server, serve_words()));
  ASSERT_TRUE(sees_locks(port_of(without), 0));
  EXPECT_EQ(server.command({"DBSIZE"}).number, 0) << "to look leaves nothing";
  EXPECT_NE(server_at(port_of(without))["now_ms"], nullptr) << "though there is no lock";
  child_process with(call_at(server, serve_words({"--doctor"})));
  const auto port = port_of(with);
  ASSERT_TRUE(eventually([&] { return http_get(port, "/api/v1/doctor").status == 200; }));
  EXPECT_EQ(get_json(port, "doctor")["findings"][0]["check"], "connect");
  EXPECT_THAT(
      http_get(port, "/metrics").body,
      HasSubstr("holdfast_server_doctor_findings{server=\"default\",severity=\"problem\"}"));
  EXPECT_THAT(http_get(port_of(without), "/metrics").body, Not(HasSubstr("doctor")));
}

// The clients of this process: each has one lock and waits for that of the other.
TEST_P(CommandLine, ShowsWhatHasHappenedAndARingOfWaiters) {
  const auto server = start();
  child_process program(call_at(server, serve_words()));
  const auto port = port_of(program);
  ASSERT_TRUE(sees_locks(port, 0));
  const client one{server.url()};
  const client two{server.url()};
  auto a = one.mutex("a").acquire();
  auto b = two.mutex("b").acquire();
  ASSERT_TRUE(sees_locks(port, 2));
  std::stop_source enough;
  std::thread waits_for_b(
      [&] { (void)one.mutex("b").try_acquire({.timeout = 60s}, enough.get_token()); });
  std::thread waits_for_a(
      [&] { (void)two.mutex("a").try_acquire({.timeout = 60s}, enough.get_token()); });
  EXPECT_TRUE(eventually([&] { return get_json(port, "waits")["cycles"].size() == 1; }));
  EXPECT_EQ(get_json(port, "waits")["cycles"][0].size(), 2U);
  EXPECT_THAT(http_get(port, "/metrics").body,
              HasSubstr("holdfast_server_wait_cycles{server=\"default\"} 1"));
  enough.request_stop();
  waits_for_a.join();
  waits_for_b.join();
  (void)a.release();
  ASSERT_TRUE(sees_locks(port, 1));
  const auto history = get_json(port, "locks/a")["history"];
  ASSERT_GE(history.size(), 2U);
  EXPECT_EQ(history.front()["what"], "free");
  EXPECT_EQ(history.back()["what"], "held");
}

}  // namespace
}  // namespace holdfast::cli_tests
