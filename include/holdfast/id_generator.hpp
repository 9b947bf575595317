/// \file
/// Numbers that nobody gets twice.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/detail/export.hpp>

namespace holdfast {

/// How ids are fetched.
struct id_options {
  std::uint32_t block = 100;  ///< How many ids are fetched at a time: 1 to a thousand million.
};

/// Ids from a counter on the server: 1, 2, 3, ... with gaps.
///
/// What is promised of ids of one name: no two are the same; those of one generator grow; with
/// `block = 1` every id is larger than all that were returned, by anybody, before it was asked for.
/// With larger blocks generators count beside each other. When a generator ends, the rest of its
/// block is never used. Neither is a block whose answer is lost for good.
///
/// Ids are as durable as the server's data: after a failover that lost the last blocks, or
/// FLUSHALL, ids may come again. A generator that finds the counter behind its own ids raises the
/// counter.
///
/// Cost: one command for each block, and a key of about 100 bytes for 7 s, as in `counter`. The key
/// `hf:ids:{NAME}` stays for ever.
///
/// When the answer is lost: as in `counter`. Errors: as in `counter`; `forked` in the child of a
/// fork; and `invalid_argument` when all of 2^63 - 1 are used up.
///
/// Thread safety: copies share a block; one object may be used from any number of threads. The
/// thread that finds the block used up fetches the next while the others wait.
class HOLDFAST_EXPORT id_generator {
 public:
  [[nodiscard]] const std::string& name() const noexcept;  ///< The name with which it was made.

  /// The next id. Blocks when a block must be fetched.
  std::int64_t next() const;

 private:
  friend class client;
  class state;
  explicit id_generator(std::shared_ptr<state> shared) : state_(std::move(shared)) {}
  std::shared_ptr<state> state_;
};

/// How many generators share a name.
struct snowflake_options {
  std::uint32_t machines = 1024;  ///< How many generators there may be at a time: 1 to 1024.
};

/// Ids without asking anybody: 41 bits for the milliseconds since 2020, 10 for the machine, 12 for
/// a number. They are about in the order of time. There are 4,096 in a millisecond, until the year
/// 2089.
///
/// The machine number is leased: the generator holds a mutex `NAME:machine:<n>` while it lives. The
/// time in an id is the server's. It is estimated so that it is never ahead, and begins after the
/// grant of that mutex. So no id comes twice, even if a number goes to another machine, a process
/// is frozen, or a machine's clock is wrong. An id can come twice in two cases:
///
/// - An operator breaks that mutex, or a failover does, while its holder goes on.
/// - A number changes hands after the *server's* clock was set back: let NTP slew that clock.
///
/// Cost: none for an id. Making a generator costs an attempt for each number that is taken (they
/// are tried from a random one on), and one command (TIME). Then it costs what a held mutex costs.
///
/// When the server is away, ids go on until the lease ends. From then on they are refused.
///
/// Thread safety: copies share a machine number; one object may be used from any number of threads.
class HOLDFAST_EXPORT snowflake_generator {
 public:
  [[nodiscard]] const std::string& name() const noexcept;  ///< The name with which it was made.

  /// The machine number: below `machines`.
  [[nodiscard]] std::uint32_t machine() const noexcept;

  /// The next id; larger than the one before. Waits for the next millisecond when this one's are
  /// used up.
  /// Throws `failure`: `lost` when the lease has ended (make another generator), `clock_skew` when
  /// the server's clock has stepped back by more than a second, `forked` in the child of a fork.
  std::int64_t next() const;

 private:
  friend class client;
  class state;
  explicit snowflake_generator(std::shared_ptr<state> shared) : state_(std::move(shared)) {}
  std::shared_ptr<state> state_;
};

}  // namespace holdfast
