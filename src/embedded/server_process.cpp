#include "embedded/server_process.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <holdfast/errc.hpp>

#include "base/printable.hpp"
#include "embedded/directories.hpp"
#include "embedded/log_tail.hpp"
#include "net/clock.hpp"
#include "net/socket.hpp"

namespace holdfast::embedded {
namespace {

constexpr milliseconds end_timeout{10'000};

// A null-terminated array of C strings, as execve() takes it.
class word_list {
 public:
  explicit word_list(std::vector<std::string> words) : words_(std::move(words)) {
    for (auto& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  char* const* data() const noexcept { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

// No persistence, no port. The owner's own arguments come last and so prevail.
// Names are those of files in its directory, where it is started.
word_list command_line(const server_order& order) {
  std::vector<std::string> words{order.program.string(),
                                 "--port",
                                 "0",
                                 "--save",
                                 "",
                                 "--appendonly",
                                 "no",
                                 "--daemonize",
                                 "no",
                                 "--dir",
                                 ".",
                                 "--unixsocket",
                                 socket_name,
                                 "--unixsocketperm",
                                 "700"};
  words.insert(words.end(), order.arguments.begin(), order.arguments.end());
  return word_list(std::move(words));
}

word_list environment(const server_order& order) {
  auto entries = order.environment;  // the first entry of a name prevails
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return word_list(std::move(entries));
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

bool answers(const std::filesystem::path& socket, monotonic_time deadline) {
  const net::connect_limits limits{deadline, {}, nullptr};
  net::descriptor connection;
  if (!net::connect(net::unix_endpoint{socket.string()}, limits, connection).empty()) return false;
  constexpr std::string_view ping = "PING\r\n";
  if (::send(connection.get(), ping.data(), ping.size(), MSG_NOSIGNAL) < 0) return false;
  if (!net::wait_ready(connection.get(), POLLIN, limits)) return false;
  char reply[64] = {};
  const auto got = ::recv(connection.get(), reply, sizeof reply - 1, 0);
  const std::string_view text(reply, got > 0 ? static_cast<std::size_t>(got) : 0);
  return text.starts_with("+PONG") || text.starts_with("-NOAUTH");
}

server_process::server_process(server_order order, const shared_use* shared)
    : order_(std::move(order)),
      socket_(socket_in(order_.directory->path())),
      generation_(net::process_generation()) {
  launch(shared);
}

server_process::~server_process() {
  if (generation_ != net::process_generation() || supervisor_ == 0) return;
  // The end of the line ends the server; the supervisor's own end is seen as the line's end here.
  ::shutdown(control_.get(), SHUT_WR);
  const auto deadline = net::now() + end_timeout;
  report ignored{};
  while (net::wait_ready(control_.get(), POLLIN, {deadline, {}, nullptr})) {
    if (::recv(control_.get(), &ignored, sizeof ignored, MSG_DONTWAIT) > 0) continue;
    while (::waitpid(supervisor_, nullptr, __WALL) < 0 && errno == EINTR) {
    }
    return;
  }
}

void server_process::launch(const shared_use* shared) {
  int line[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) != 0) {
    give_up("cannot be supervised: " + std::generic_category().message(errno));
  }
  control_.reset(line[0]);
  net::descriptor far_end(line[1]);
  const auto path = order_.directory->path().string();
  const auto arguments = command_line(order_);
  const auto variables = environment(order_);
  supervisor_ = start_supervisor({.program = order_.program.c_str(),
                                  .arguments = arguments.data(),
                                  .environment = variables.data(),
                                  .directory = order_.directory->fd(),
                                  .path = path.c_str(),
                                  .socket = socket_name,
                                  .log = log_name,
                                  .control = far_end.get(),
                                  .shared = shared});
  if (supervisor_ >= 0) return;
  const int error = errno;
  supervisor_ = 0;
  give_up("cannot be supervised: " + std::generic_category().message(error));
}

void server_process::await_answer() {
  const auto deadline = net::now() + order_.start_timeout;
  auto pause = milliseconds{1};
  while (net::now() < deadline) {
    if (const auto news = next_report(std::min(deadline, net::now() + pause))) {
      heed(*news);
    } else if (pid_ != 0 && answers(socket_by_descriptor(),
                                    std::min(deadline, net::now() + milliseconds{500}))) {
      return;
    }
    pause = std::min(2 * pause, milliseconds{20});
  }
  give_up("did not answer within " + std::to_string(order_.start_timeout.count()) + " ms" +
          log_tail(log()));
}

std::filesystem::path server_process::log() const {
  return order_.directory->by_descriptor(log_name);
}

std::filesystem::path server_process::socket_by_descriptor() const {
  return order_.directory->by_descriptor(socket_name);
}

void server_process::restart() {
  if (generation_ != net::process_generation()) throw failure(errc::forked);
  pid_ = 0;
  const char again = 1;
  ::send(control_.get(), &again, sizeof again, MSG_NOSIGNAL);
  await_answer();
}

std::optional<report> server_process::next_report(monotonic_time until) {
  if (!net::wait_ready(control_.get(), POLLIN, {until, {}, nullptr})) return std::nullopt;
  report news{};
  if (::recv(control_.get(), &news, sizeof news, MSG_DONTWAIT) == sizeof news) return news;
  give_up("has lost its supervisor");
}

void server_process::heed(const report& news) {
  switch (news.what) {
    case report::event::started:
      pid_ = news.value;
      return;
    case report::event::not_entered:
      give_up("cannot enter its directory \"" + printable(order_.directory->path().string()) +
              "\": " + std::generic_category().message(news.value));
    case report::event::not_started:
      give_up("cannot be executed: " + std::generic_category().message(news.value));
    case report::event::ended:
      // Before the news of its start: the end of the one that was restarted.
      if (pid_ != 0) give_up(how_it_ended(news.value) + log_tail(log()));
  }
}

void server_process::give_up(const std::string& what) const {
  throw failure(errc::embedded_server, "\"" + printable(order_.program.string()) + "\" " + what);
}

}  // namespace holdfast::embedded
