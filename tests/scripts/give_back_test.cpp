// renew.lua, release.lua and withdraw.lua: what the owner does, and nobody else can.
#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

class OwnerScripts : public scripts_test {};
HOLDFAST_ON_EACH_SERVER(OwnerScripts);

TEST_P(OwnerScripts, ReleaseOnlyWhatIsTheirs) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim wrong_token = mine;
  --wrong_token.granted;
  EXPECT_EQ(redis().release(wrong_token), release_verdict(not_mine{}));
  claim wrong_owner = others.next();
  wrong_owner.granted = mine.granted;
  EXPECT_EQ(redis().release(wrong_owner), release_verdict(not_mine{}));
  EXPECT_TRUE(redis().exists(key.value_key()));
  EXPECT_EQ(redis().release(mine), release_verdict(released{}));
  EXPECT_FALSE(redis().exists(key.value_key()));
  EXPECT_EQ(redis().release(mine), release_verdict(not_mine{}));
}

TEST_P(OwnerScripts, GiveUpTheLocksOwnKeyAloneIfItIsTheirs) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim next = others.next();
  next.waits = true;
  next.way = wakeup_way::poll;
  EXPECT_TRUE(std::holds_alternative<queued>(redis().acquire(next)));
  claim wrong_token = mine;
  --wrong_token.granted;
  EXPECT_EQ(redis().lone_release(wrong_token), release_verdict(not_mine{}));
  EXPECT_TRUE(redis().exists(key.value_key()));
  EXPECT_EQ(redis().lone_release(mine), release_verdict(released{}));
  EXPECT_FALSE(redis().exists(key.value_key())) << "nobody was handed it";
  EXPECT_EQ(redis().lone_release(mine), release_verdict(not_mine{}));
  EXPECT_TRUE(std::holds_alternative<busy>(redis().acquire(claims.next())))
      << "it goes to the first who waits, whoever asks";
  EXPECT_GT(redis().must_acquire(next).major, mine.granted);
}

TEST_P(OwnerScripts, WithdrawWithoutKnowingTheToken) {
  claim mine = claims.next();
  EXPECT_EQ(redis().withdraw(mine), release_verdict(not_mine{}));
  redis().must_acquire(mine);
  EXPECT_EQ(redis().withdraw(claims.next()), release_verdict(not_mine{}));
  EXPECT_EQ(redis().withdraw(others.next()), release_verdict(not_mine{}));
  mine.granted = 0;
  EXPECT_EQ(redis().withdraw(mine), release_verdict(released{}));
  EXPECT_FALSE(redis().exists(key.value_key()));
}

TEST_P(OwnerScripts, WithdrawOnlyTheGrantThatIsNamed) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim earlier = mine;
  --earlier.granted;
  EXPECT_EQ(redis().withdraw(earlier), release_verdict(not_mine{}));
  EXPECT_TRUE(redis().exists(key.value_key()));
  EXPECT_EQ(redis().withdraw(mine), release_verdict(released{}));
  EXPECT_FALSE(redis().exists(key.value_key()));
}

TEST_P(OwnerScripts, DoNotTakeAPartOfAnIdForTheWhole) {
  // Counter 0x1 and 0x11: one text is the beginning, another the end of the other.
  claim short_id = claims.next();
  claim long_id = short_id;
  long_id.owner = request_id{client_id{{1}}, 0x11};
  redis().must_acquire(long_id);
  EXPECT_EQ(redis().withdraw(short_id), release_verdict(not_mine{}));
  EXPECT_TRUE(std::holds_alternative<busy>(redis().acquire(short_id)));
}

TEST_P(OwnerScripts, LeaveForeignValuesAlone) {
  claim mine = claims.next();
  mine.granted = 17;
  const std::string owner{mine.owner.text()};
  for (const auto& value : {std::string{"somebody"}, owner, "2:17:" + owner, "1:x:" + owner}) {
    redis().command({"SET", key.value_key(), value});
    EXPECT_EQ(redis().release(mine), release_verdict(not_mine{}));
    EXPECT_EQ(redis().withdraw(mine), release_verdict(not_mine{}));
    EXPECT_EQ(redis().renew(mine), renew_verdict(not_mine{}));
    EXPECT_EQ(redis().get(key.value_key()), value);
    EXPECT_EQ(redis().pttl(key.value_key()), -1);
  }
  redis().command({"DEL", key.value_key()});
  redis().command({"RPUSH", key.value_key(), "a"});
  EXPECT_EQ(redis().release(mine), release_verdict(not_mine{}));
  EXPECT_EQ(redis().withdraw(mine), release_verdict(not_mine{}));
  EXPECT_EQ(redis().renew(mine), renew_verdict(not_mine{}));
  EXPECT_TRUE(redis().exists(key.value_key()));
}

TEST_P(OwnerScripts, RenewButNeverShorten) {
  claim mine = claims.next(milliseconds(5000));
  redis().must_acquire(mine);
  mine.lease = milliseconds(60'000);
  EXPECT_EQ(redis().renew(mine), renew_verdict(renewed{mine.lease}));
  mine.lease = milliseconds(5000);
  const auto kept = std::get<renewed>(redis().renew(mine)).ttl;
  EXPECT_GT(kept, milliseconds(50'000));
  EXPECT_LE(kept, milliseconds(60'000));
  EXPECT_GT(redis().pttl(key.value_key()), 50'000);
}

TEST_P(OwnerScripts, DoNotBringAnExpiredLockBack) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  redis().command({"DEL", key.value_key()});
  EXPECT_EQ(redis().renew(mine), renew_verdict(not_mine{}));
  EXPECT_FALSE(redis().exists(key.value_key()));
}

TEST_P(OwnerScripts, RefuseALateRenewalAsAWhole) {
  claim mine = claims.next(milliseconds(5000));
  redis().must_acquire(mine);
  mine.lease = lease;
  const server_time past{microseconds(redis().micros() - 1)};
  const auto verdict = redis().renew({&mine, &mine}, past);
  EXPECT_GT(std::get<late>(verdict[0]).now, past);
  EXPECT_TRUE(std::holds_alternative<late>(verdict[1]));
  EXPECT_LE(redis().pttl(key.value_key()), 5000);
}

// What there is of 100 locks, by index: every seventh gone, every eleventh taken over, one a list.
enum class fate { kept, gone, taken, list };
fate fate_of(std::size_t i) {
  if (i == 50) return fate::list;
  if (i % 7 == 0) return fate::gone;
  return i % 11 == 0 ? fate::taken : fate::kept;
}

TEST_P(OwnerScripts, RenewAHundredLocksWithAVerdictEach) {
  std::vector<std::unique_ptr<lock_key>> keys;
  std::vector<claim> held;
  for (std::size_t i = 0; i < recipe::renew_batch; ++i) {
    keys.push_back(std::make_unique<lock_key>("lock " + std::to_string(i)));
    held.push_back(claims_of{*keys.back()}.next(milliseconds(5000)));
    redis().must_acquire(held.back());
    held.back().lease = milliseconds(20'000 + i);
    const std::string& value = keys.back()->value_key();
    if (fate_of(i) != fate::kept) redis().command({"DEL", value});
    if (fate_of(i) == fate::taken) redis().command({"SET", value, "1:5:x", "PX", "5000"});
    if (fate_of(i) == fate::list) redis().command({"RPUSH", value, "a"});
  }
  std::vector<const claim*> batch;
  for (const claim& one : held) batch.push_back(&one);
  const auto verdicts = redis().renew(batch);
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (fate_of(i) == fate::kept) {
      EXPECT_EQ(verdicts[i], renew_verdict(renewed{held[i].lease})) << i;
      EXPECT_GT(redis().pttl(keys[i]->value_key()), 15'000) << i;
    } else {
      EXPECT_EQ(verdicts[i], renew_verdict(not_mine{})) << i;
      EXPECT_LE(redis().pttl(keys[i]->value_key()), 5000) << i;
    }
  }
}

}  // namespace
}  // namespace holdfast::dialects
