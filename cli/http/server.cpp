// By GNU libmicrohttpd, polled by a thread of ours.
#include "cli/http/server.hpp"

#include <fmt/format.h>
#include <microhttpd.h>
#include <poll.h>

#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/bell.hpp"
#include "cli/boot_clock.hpp"
#include "cli/complaint.hpp"
#include "cli/http/visitors.hpp"

namespace holdfast::cli::http {
namespace {

using std::chrono::milliseconds;

// On every answer. Nothing that is shown here may be kept, framed, or run from elsewhere.
constexpr std::pair<const char*, const char*> headers[] = {
    {"Cache-Control", "no-store"},
    {"X-Content-Type-Options", "nosniff"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
     "data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

// Answers that came from other threads, for the server's thread.
struct mailbox {
  void put(std::uint64_t exchange, answer what) {
    {
      const std::scoped_lock guard(mutex);
      letters.emplace_back(exchange, std::move(what));
    }
    rung.ring();
  }
  std::vector<std::pair<std::uint64_t, answer>> take() {
    const std::scoped_lock guard(mutex);
    return std::exchange(letters, {});
  }

  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, answer>> letters;
  bell rung;
};

// One request and its answer.
struct exchange {
  std::uint64_t number = 0;
  std::string target;
  bool is_begun = false;  // its head was seen
  std::optional<answer> reply{};
  milliseconds until{0};  // when it waits for an answer
};

bool has_body(MHD_Connection* connection) {
  const auto header = [&](const char* name) {
    const char* const text = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return text == nullptr ? std::string_view{} : std::string_view{text};
  };
  const auto length = header("Content-Length");
  return !header("Transfer-Encoding").empty() || (!length.empty() && length != "0");
}

MHD_Result send(MHD_Connection* connection, const answer& what) {
  auto body = what.body;
  MHD_Response* const response =
      MHD_create_response_from_buffer(body.size(), body.data(), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  for (const auto& [name, value] : headers) MHD_add_response_header(response, name, value);
  MHD_add_response_header(response, "Content-Type", what.type.c_str());
  if (what.status == 405) MHD_add_response_header(response, "Allow", "GET, HEAD");
  const auto sent = MHD_queue_response(connection, static_cast<unsigned>(what.status), response);
  MHD_destroy_response(response);
  return sent;
}

}  // namespace

class server::daemon {
 public:
  daemon(descriptor socket, allowed_hosts hosts, site& what, const server_limits& limits);
  ~daemon() {
    stop_.ring();
    thread_.join();
  }
  daemon(const daemon&) = delete;
  daemon& operator=(const daemon&) = delete;

 private:
  // What the library calls; `self` is the daemon.
  static void* begin(void* self, const char* target, MHD_Connection* connection);
  static MHD_Result handle(void* self, MHD_Connection* connection, const char* url,
                           const char* method, const char* version, const char* body,
                           std::size_t* body_size, void** state);
  static void complete(void* self, MHD_Connection* connection, void** state,
                       MHD_RequestTerminationCode how);
  static void notice(void* self, MHD_Connection* connection, void** visitor,
                     MHD_ConnectionNotificationCode what);

  std::optional<answer> refusal(MHD_Connection* connection, std::string_view method) const;
  std::optional<answer> ask_site(const exchange& one);
  void wait_for_answer(MHD_Connection* connection, exchange& one);
  void give_answers();
  void give_up(milliseconds now, bool all, const char* why);
  void serve();
  void drain();

  const allowed_hosts hosts_;
  site& site_;
  MHD_Daemon* library_ = nullptr;
  visitors visitors_{visitors::limits{}};
  std::map<std::uint64_t, std::pair<MHD_Connection*, exchange*>> waiting_;
  std::uint64_t next_number_ = 0;
  bool is_ending_ = false;
  const std::shared_ptr<mailbox> mailbox_ = std::make_shared<mailbox>();
  const bell stop_;
  std::thread thread_;
};

namespace {

visitors::visitor* visitor_of(MHD_Connection* connection) {
  const auto* const info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == nullptr ? nullptr : static_cast<visitors::visitor*>(info->socket_context);
}

constexpr const char* ends_now = "this program ends";

}  // namespace

server::daemon::daemon(descriptor socket, allowed_hosts hosts, site& what,
                       const server_limits& limits)
    : hosts_(std::move(hosts)), site_(what) {
  const auto unescape_nothing = +[](void*, MHD_Connection*, char* text) -> std::size_t {
    return std::string_view(text).size();
  };
  library_ = MHD_start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr, &daemon::handle, this,
      MHD_OPTION_LISTEN_SOCKET, socket.get(), MHD_OPTION_CONNECTION_LIMIT, limits.connections,
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, limits.per_address, MHD_OPTION_CONNECTION_TIMEOUT, 30U,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.head_bytes, MHD_OPTION_URI_LOG_CALLBACK,
      &daemon::begin, this, MHD_OPTION_UNESCAPE_CALLBACK, unescape_nothing, nullptr,
      MHD_OPTION_NOTIFY_COMPLETED, &daemon::complete, this, MHD_OPTION_NOTIFY_CONNECTION,
      &daemon::notice, this, MHD_OPTION_END);
  if (library_ == nullptr) {
    throw complaint{bad_configuration, "cannot_listen", "the HTTP server does not start"};
  }
  (void)socket.release();  // the library closes it
  thread_ = std::thread([this] { serve(); });
}

void* server::daemon::begin(void* self, const char* target, MHD_Connection*) {
  auto& own = *static_cast<daemon*>(self);
  return new exchange{.number = own.next_number_++, .target = target};
}

MHD_Result server::daemon::handle(void* self, MHD_Connection* connection, const char*,
                                  const char* method, const char*, const char*, std::size_t*,
                                  void** state) {
  auto& own = *static_cast<daemon*>(self);
  auto& one = *static_cast<exchange*>(*state);
  if (one.reply) return send(connection, *one.reply);
  if (!std::exchange(one.is_begun, true)) {
    if (auto* const visitor = visitor_of(connection)) own.visitors_.asked(*visitor, boot_time());
    // An answer at this moment, before a body was read, also ends the connection.
    const auto refused = own.refusal(connection, method);
    return refused ? send(connection, *refused) : MHD_YES;
  }
  // The library ends itself, hard, when a request waits at its end.
  if (own.is_ending_) return send(connection, problem(503, ends_now));
  one.reply = own.ask_site(one);
  if (one.reply) return send(connection, *one.reply);
  own.wait_for_answer(connection, one);
  return MHD_YES;
}

std::optional<answer> server::daemon::refusal(MHD_Connection* connection,
                                              std::string_view method) const {
  if (method != "GET" && method != "HEAD") return problem(405, "only GET and HEAD are answered");
  if (has_body(connection)) return problem(413, "a request has no body here");
  const char* const host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
  // Browsers always send one; probes of load balancers may not.
  if (host == nullptr || hosts_.includes(host)) return std::nullopt;
  return problem(421, "this is not the host of that name: start it with --allow-host NAME");
}

std::optional<answer> server::daemon::ask_site(const exchange& one) {
  const auto asked = parse_target(one.target);
  if (!asked) return problem(400, "the path or query cannot be decoded");
  try {
    return site_.get(*asked, [box = mailbox_, number = one.number](answer what) {
      box->put(number, std::move(what));
    });
  } catch (const std::exception& error) {
    return problem(500, error.what());
  }
}

void server::daemon::wait_for_answer(MHD_Connection* connection, exchange& one) {
  one.until = boot_time() + for_an_answer;
  waiting_.emplace(one.number, std::pair{connection, &one});
  MHD_suspend_connection(connection);
}

void server::daemon::complete(void* self, MHD_Connection* connection, void** state,
                              MHD_RequestTerminationCode) {
  auto& own = *static_cast<daemon*>(self);
  delete static_cast<exchange*>(*state);
  *state = nullptr;
  if (auto* const visitor = visitor_of(connection)) own.visitors_.answered(*visitor, boot_time());
}

void server::daemon::notice(void* self, MHD_Connection* connection, void** visitor,
                            MHD_ConnectionNotificationCode what) {
  auto& own = *static_cast<daemon*>(self);
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    const auto* const info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *visitor = own.visitors_.add(info->connect_fd, boot_time());
  } else if (*visitor != nullptr) {
    own.visitors_.remove(*static_cast<visitors::visitor*>(*visitor));
    *visitor = nullptr;
  }
}

void server::daemon::give_answers() {
  (void)mailbox_->rung.was_rung();
  for (auto& [number, what] : mailbox_->take()) {
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) continue;  // given up
    const auto [connection, one] = found->second;
    waiting_.erase(found);
    one->reply = std::move(what);
    MHD_resume_connection(connection);
  }
}

void server::daemon::give_up(milliseconds now, bool all, const char* why) {
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto [connection, one] = next->second;
    if (!all && one->until > now) {
      ++next;
      continue;
    }
    next = waiting_.erase(next);
    one->reply = problem(all ? 503 : 504, why);
    MHD_resume_connection(connection);
  }
}

void server::daemon::serve() {
  constexpr int sweep_ms = 500;
  const auto* const info = MHD_get_daemon_info(library_, MHD_DAEMON_INFO_EPOLL_FD);
  pollfd polled[] = {
      {info->epoll_fd, POLLIN, 0}, {mailbox_->rung.fd(), POLLIN, 0}, {stop_.fd(), POLLIN, 0}};
  for (;;) {
    MHD_UNSIGNED_LONG_LONG due = sweep_ms;
    if (MHD_get_timeout(library_, &due) != MHD_YES) due = sweep_ms;
    ::poll(polled, 3, static_cast<int>(std::min<MHD_UNSIGNED_LONG_LONG>(due, sweep_ms)));
    if ((polled[2].revents & POLLIN) != 0) break;
    give_answers();
    const auto now = boot_time();
    give_up(now, false, "the server did not answer in time");
    visitors_.end_late_ones(now);
    MHD_run(library_);
  }
  drain();
}

void server::daemon::drain() {
  is_ending_ = true;
  give_up({}, true, ends_now);
  MHD_run(library_);
  MHD_stop_daemon(library_);
}

server::server(listener at, allowed_hosts hosts, site& what, const server_limits& limits)
    : url_(std::move(at.url)),
      daemon_(std::make_unique<daemon>(std::move(at.socket), std::move(hosts), what, limits)) {}

server::~server() = default;

}  // namespace holdfast::cli::http
