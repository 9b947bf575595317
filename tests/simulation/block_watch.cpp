// The value block of a lock with modes. Who writes has the lock, had it, or may only read.
#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "redis/dialects/catalog.hpp"
#include "redis/dialects/holdfast/value_block.hpp"
#include "simulation/gate_world.hpp"
#include "simulation/kind.hpp"
#include "simulation/value_watches.hpp"

namespace holdfast::simulation::gates {
namespace {

using namespace std::chrono_literals;

constexpr milliseconds lease = 150ms;
constexpr server_time never{std::chrono::hours{24} * 365 * 100};

class block_watch final : public change_watch {
 public:
  explicit block_watch(world& of) : change_watch(of) {}

  bool lasts(std::string_view key) const override { return key == block_; }

  // Before, the lock may change hands. Nothing goes wrong with that.
  dialects::once_call draw(const std::string& request) override {
    auto& dice = in().chance();
    if (owners_.empty() || dice.chance(50)) ask_for_the_lock();
    if (dice.chance(15)) give_it_up();
    const auto& writer =
        owners_[owners_.size() - 1 - dice.up_to(std::min<std::size_t>(2, owners_.size() - 1))];
    const write what{.by = writer,
                     .bytes = dice.chance(10) ? std::string{} : request.substr(0, 64)};
    writes_.insert_or_assign(request, what);
    return dialects::value_block_write(writer, what.bytes);
  }

 private:
  struct write {
    substrate::claim by;
    std::string bytes;
  };

  resp::value ask(const std::string& bytes) {
    auto& server = in().server();
    const int connection = server.connect();
    auto reply = server.execute(connection, bytes);
    server.disconnect(connection);
    return reply;
  }

  void ask_for_the_lock() {
    static const std::array modes{substrate::demand{.mode = 'x'}, substrate::demand{.mode = 'p'},
                                  substrate::demand{.mode = 'r'}};
    substrate::claim wanted{.key = &in().key(),
                            .wants = &modes.at(in().chance().up_to(modes.size() - 1)),
                            .owner = request_id{client_id{{0xff}}, ++asked_},
                            .lease = lease};
    std::string bytes;
    resp::writer out{bytes};
    how_.write_acquire(wanted, false, never, out);
    const auto verdict = how_.read_acquire(wanted, ask(bytes));
    if (const auto* const grant = std::get_if<substrate::granted>(&verdict)) {
      wanted.granted = grant->major;
    }
    owners_.push_back(wanted);  // also who did not get it
  }

  void give_it_up() {
    std::string bytes;
    resp::writer out{bytes};
    how_.write_release(owners_.back(), out);
    ask(bytes);
  }

  std::string look() override { return text_at(block_); }

  bool may_write(const substrate::claim& who) {
    std::vector<holder> holders;
    shared_holders(in().server(), in().key(), holders);
    return std::ranges::any_of(holders, [&](const auto& one) {
      const bool writes = one.has.mode == 'x' || one.has.mode == 'p';
      return one.owner == std::string_view{who.owner.text()} && one.token == who.granted && writes;
    });
  }

  void done(const std::string& request, const substrate::once_answer& answer,
            const std::string& after) override {
    const auto& what = writes_.at(request);
    const bool may = may_write(what.by);
    const auto verdict = dialects::read_value_block_written(answer);
    const auto* const written = std::get_if<bool>(&verdict);
    if (written == nullptr || *written != may) {
      in().violated("V: who " + std::string{may ? "has" : "has not"} +
                    " the lock for writing was answered " + answer.word);
    }
    const auto token = std::to_string(what.by.granted);
    const auto wanted = what.bytes.empty() ? std::string{} : token + ":" + what.bytes;
    if (after != (may ? wanted : before())) in().violated("V: the block became " + after);
    if (!may) return;
    if (what.by.granted < newest_ && emptied_at() < timeline::begin) {
      in().violated("V: a block was written under an older token than the one before");
    }
    newest_ = what.by.granted;
  }

  const dialects::recipe& how_ = dialects::native_shared_lock();
  const std::string block_ = in().key().value_key() + ":v";
  std::uint64_t asked_ = 0;
  std::vector<substrate::claim> owners_;
  std::map<std::string, write, std::less<>> writes_;
  substrate::token_major newest_ = 0;
};

}  // namespace

std::shared_ptr<change_watch> watch_value_block(world& of) {
  return std::make_shared<block_watch>(of);
}

}  // namespace holdfast::simulation::gates
