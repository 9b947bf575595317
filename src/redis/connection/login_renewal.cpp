#include "redis/connection/login_renewal.hpp"

#include <new>

#include "net/clock.hpp"
#include "redis/resp/server_error.hpp"

namespace holdfast::redis {

login_renewal::login_renewal(pipeline& line)
    : request(answered_by::time_after_login),
      line_(line),
      source_(line.settings.login.source.get()) {
  if (source_ != nullptr) source_->join(*this);
}

login_renewal::~login_renewal() {
  if (source_ != nullptr) source_->leave(*this);
}

void login_renewal::on_connected(const session_facts& facts) {
  if (source_ == nullptr) return;
  bool wake = false;
  {
    const scoped_mutex lock(line_.guard);
    used_ = {facts.login_number, facts.address};
    wake = send_if_outdated();
  }
  if (wake) line_.helper.wake();
}

void login_renewal::on_logged_out(const std::string& said) {
  if (source_ == nullptr) return;
  used now;
  {
    const scoped_mutex lock(line_.guard);
    now = used_;
  }
  source_->refused(now.number, now.server, resp::classify(said).detail);
}

void login_renewal::on_new_login() {
  bool wake = false;
  {
    const scoped_mutex lock(line_.guard);
    wake = send_if_outdated();
  }
  if (wake) line_.helper.wake();
}

// Nothing is sent where there is no connection: it will be made with the newest login.
bool login_renewal::send_if_outdated() {
  if (!line_.is_up() || is_under_way_ || used_.number >= source_->newest_number()) return false;
  is_under_way_ = true;
  used_.number = source_->newest_number();
  sent_ = used_;
  is_accepted_ = false;
  refusal_.clear();
  line_.enqueue(*this, net::now());
  return line_.attract_reader(delivery::prompt);
}

// A still newer login may have come meanwhile, or another link.
void login_renewal::finish() {
  bool wake = false;
  {
    const scoped_mutex lock(line_.guard);
    is_under_way_ = false;
    wake = send_if_outdated();
  }
  if (wake) line_.helper.wake();
}

void login_renewal::write(resp::writer& out, monotonic_time) {
  const auto newest = source_->newest();
  const auto& own = line_.settings.login.username;
  const auto& username = newest.username.empty() ? own : newest.username;
  out.command(username.empty() ? 2 : 3);
  out.arg("AUTH");
  if (!username.empty()) out.arg(username);
  out.arg(newest.password);
  out.command(1);
  out.arg("TIME");
}

void login_renewal::on_first_answer(const resp::value& said) noexcept {
  is_accepted_ = !said.is(resp::type::error);
  if (is_accepted_) return;
  try {
    refusal_ = said.text;
  } catch (const std::bad_alloc&) {  // then it is told without its words
  }
}

// The server may not have said that it refuses: answered_by says why.
void login_renewal::on_reply(resp::value&) {
  if (is_accepted_) {
    source_->accepted(sent_.number);
  } else {
    source_->refused(sent_.number, sent_.server,
                     refusal_.empty() ? "it has not said why" : resp::classify(refusal_).detail);
  }
  finish();
}

void login_renewal::on_failed(no_answer, const breakdown&) { finish(); }

}  // namespace holdfast::redis
