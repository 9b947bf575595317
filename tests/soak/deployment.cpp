#include "soak/deployment.hpp"

#include <stdexcept>

#include "faults/moving_name.hpp"
#include "support/eventually.hpp"
#include "support/pause.hpp"

namespace holdfast::soak {
namespace {

using support::cut;
using support::eventually;
using support::pause;
using support::toward;

void demand(bool is_so, const char* what) {
  if (!is_so) throw std::runtime_error(what);
}

bool is_master(const support::private_server& server) {
  return server.command({"INFO", "replication"}).text.find("role:master") != std::string::npos;
}

}  // namespace

deployment::deployment(const std::string& program) {
  auto& [first, second] = places_;
  start(first, program, {});
  const auto port = std::to_string(first.server->port());
  start(second, program, {"--replicaof", first.address, port});
  first.line.emplace(net::unix_endpoint{first.server->socket()},
                     net::tcp_endpoint{first.address, 0});
  second.line.emplace(net::unix_endpoint{second.server->socket()},
                      net::tcp_endpoint{second.address, first.line->port()});
  wait_for_replica();
  faults::lead_to({first.address});
  url_ = std::string("redis://") + faults::moving_name + ":" + std::to_string(first.line->port());
}

void deployment::start(place& one, const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   {"--repl-diskless-sync-delay", "0", "--replica-announce-ip", one.address});
  one.server.emplace(support::server_settings{
      .program = program, .tcp = true, .address = one.address, .arguments = arguments});
}

void deployment::wait_for_replica() {
  demand(eventually([&] {
           return master().server->command({"WAIT", "1", "100"}).number == 1;
         }),
         "the replica does not follow");
}

// As an operator does it: the new master has everything before the old one is demoted.
void deployment::hand_over() {
  wait_for_replica();
  const auto to = std::to_string(replica().server->port());
  const auto said =
      master().server->command({"FAILOVER", "TO", replica().address, to, "TIMEOUT", "5000"});
  demand(said.text == "OK", said.text.c_str());
  demand(eventually([&] { return is_master(*replica().server) || is_master(*master().server); }),
         "nobody is master");
  if (!eventually([&] { return !is_master(*master().server); }, milliseconds{6000})) return;
  master_ = 1 - master_;
  pause(milliseconds{50});  // names move later than roles
  faults::lead_to({master().address});
}

void deployment::freeze(place& one, milliseconds length) {
  one.server->freeze();
  pause(length);
  one.server->thaw();
}

const char* deployment::strike(unsigned dice) {
  pause(milliseconds{dice / 8 % 300});
  switch (dice % 8) {
    case 0:
      hand_over();
      return "failover";
    case 1:
      freeze(master(), milliseconds{400});
      return "frozen master";
    // Longer than a response_timeout, shorter than the time in which a grant that was handed over
    // has to be confirmed.
    case 2:
      freeze(master(), milliseconds{700});
      return "master frozen for long";
    case 3:
      freeze(replica(), milliseconds{300});
      return "frozen replica";
    case 4:
      master().line->disconnect(cut::reset);
      return "all connections reset";
    case 5:
      master().line->cut_after(dice % 16 < 8 ? toward::server : toward::client, dice % 1500);
      pause(milliseconds{100});
      break;
    case 6:
      master().line->stall(toward::client);
      pause(milliseconds{300});
      break;
    default:
      master().line->refuse_connections();
      master().line->disconnect(cut::close);
      pause(milliseconds{200});
      master().line->accept_connections();
      return "nobody listens";
  }
  master().line->heal();
  return dice % 8 == 5 ? "a connection cut" : "answers that wait";
}

}  // namespace holdfast::soak
