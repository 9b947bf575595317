// Threads that use locks in every way, and look for themselves whether each is theirs alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "base/time.hpp"

namespace holdfast::soak {

// What the locks protect: nobody may be inside beside those who have room there.
struct room {
  int most = 1;
  std::atomic<int> inside{0};
};

struct tally {
  std::atomic<std::uint64_t> acquired{0};
  std::atomic<std::uint64_t> failed{0};     // in time, and with a reason
  std::atomic<std::uint64_t> cancelled{0};  // threads
  std::atomic<std::uint64_t> clients{0};    // that came and went
  std::atomic<std::uint64_t> intruders{0};  // who met somebody inside that should not be there
  std::atomic<std::uint64_t> lost{0};       // leases
  std::atomic<std::int64_t> longest_ms{0};  // that a call took
};

// Works from its construction on, until it is destroyed.
class crew {
 public:
  explicit crew(std::string url);
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  const tally& so_far() const noexcept { return tally_; }

  // The first lock that a new client cannot have, and why. Empty: it can have each.
  std::string left_behind() const;
  void stop();

 private:
  struct share {
    room* of;
    int size;
  };
  struct way {
    lock wanted;
    std::vector<share> gives;
  };

  std::vector<way> ways_of(const client& redis) const;
  void use(const way& how, std::uint64_t dice);
  void note(nanoseconds took);
  static void* cancelled_worker(void* of);
  void work(std::stop_token stop, unsigned number);
  void cancel_workers(std::stop_token stop);
  void come_and_go(std::stop_token stop);

  const std::string url_;
  mutable room a_{}, b_{}, fair_{}, shared_{.most = 1000}, permits_{.most = 3};
  tally tally_;
  std::vector<client> clients_;
  std::vector<std::jthread> threads_;
};

}  // namespace holdfast::soak
