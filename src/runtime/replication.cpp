#include "runtime/replication.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "lease/server_clock.hpp"
#include "resp/server_error.hpp"
#include "runtime/engine.hpp"
#include "runtime/nothing.hpp"
#include "runtime/tenure.hpp"

namespace holdfast::runtime {

// Of one grant. Owns itself until it has an answer.
class replication::confirmation {
 public:
  confirmation(replication& of, std::shared_ptr<tenure> granted)
      : of_(of), granted_(std::move(granted)), renewal_(*this), wait_(*this) {}

  void begin() { submit(renewal_); }

 private:
  using refusal = leasing::outcome;

  class part : public redis::request {
   public:
    explicit part(confirmation& of) : of_(of) {}

   protected:
    ~part() override = default;
    void on_failed(redis::fate, const redis::breakdown& why) override {
      of_.end(refusal{errc::unavailable, "whether replicas have the lock could not be asked: " +
                                             why.detail + "; it is given back"});
    }
    confirmation& of_;
  };
  class renewal final : public part {
   public:
    using part::part;
    void write(resp::writer& out, monotonic_time sent_at) override {
      of_.write_renewal(out, sent_at);
    }
    void on_reply(resp::value& reply) override { of_.on_renewed(reply); }
  };
  class wait final : public part {
   public:
    using part::part;
    void write(resp::writer& out, monotonic_time) override { of_.write_wait(out); }
    void on_reply(resp::value& reply) override { of_.on_waited(reply); }
  };

  void submit(redis::request& next) {
    of_.connection_.submit(next, redis::connection::delivery::prompt);
  }
  const client_options& options() const { return of_.engine_.options(); }
  const dialects::recipe& recipe() const { return *granted_->spec().recipe; }

  void write_renewal(resp::writer& out, monotonic_time sent_at) {
    session_ = of_.sessions_.load(std::memory_order_relaxed);
    const auto& clock = of_.engine_.clock(granted_->spec().key.slot());
    const moment sent{sent_at, clock.estimate(sent_at)};
    // By a little more than was granted a moment ago, or there might be nothing to write.
    dialects::claim longer = granted_->claim();
    longer.lease += milliseconds{1};
    const dialects::claim* const only = &longer;
    recipe().write_renew({&only, 1}, leasing::not_after(sent, options().response_timeout), out);
  }

  void on_renewed(const resp::value& reply) {
    const auto verdict = recipe().read_renew(reply, 0);
    if (std::holds_alternative<dialects::renewed>(verdict)) return submit(wait_);
    if (const auto* no = std::get_if<dialects::refused>(&verdict)) {
      return end(refusal{no->code, no->detail});
    }
    end(refusal{errc::unavailable, "the server that should replicate it does not know the lock"});
  }

  // WAIT speaks of what was written over its own connection: on another one it would find nothing
  // to wait for.
  void write_wait(resp::writer& out) {
    is_another_ = session_ != of_.sessions_.load(std::memory_order_relaxed);
    if (is_another_) return write_nothing(out);
    const bool on_disk = options().replicas_fsync;
    out.command(on_disk ? 4 : 3);
    out.arg(on_disk ? "WAITAOF" : "WAIT");
    if (on_disk) out.arg("0");
    out.arg(std::to_string(options().min_replicas));
    out.arg(std::to_string(patience().count()));
  }

  void on_waited(const resp::value& reply) {
    if (is_another_) return end(refusal{errc::unavailable, "the connection broke meanwhile"});
    if (reply.is(resp::type::error)) {
      const auto why = resp::classify(reply.text);
      return end(refusal{why.code, why.detail});
    }
    const auto& count =
        reply.is(resp::type::array) && !reply.items.empty() ? reply.items.back() : reply;
    if (count.number >= options().min_replicas) return end(std::nullopt);
    end(refusal{errc::no_replicas,
                std::to_string(count.number) + " of " + std::to_string(options().min_replicas) +
                    " replicas confirmed it within " + std::to_string(patience().count()) +
                    " ms; it is given back"});
  }

  // The answer must come before the connection counts as broken.
  milliseconds patience() const {
    const milliseconds lease = granted_->spec().lease;
    return std::max(milliseconds{1}, std::min(options().response_timeout, lease) / 2);
  }

  void end(std::optional<refusal> why) {
    const std::unique_ptr<confirmation> self(this);
    granted_->on_replicated(std::move(why));
  }

  replication& of_;
  const std::shared_ptr<tenure> granted_;
  renewal renewal_;
  wait wait_;
  std::uint64_t session_ = 0;  // over which the renewal was sent
  bool is_another_ = false;
};

replication::replication(engine& owner, redis::session_settings session,
                         redis::connection_tuning tuning, net::background_thread& helper)
    : engine_(owner), connection_(std::move(session), tuning, helper, *this) {}

void replication::confirm(std::shared_ptr<tenure> granted) {
  (new confirmation(*this, std::move(granted)))->begin();
}

}  // namespace holdfast::runtime
