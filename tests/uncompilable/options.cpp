// Which options each kind of lock knows. What a kind does not know is no member of its options, so
// asking for it does not compile. This file compiles when the table is true.
#include <holdfast/quorum.hpp>

namespace holdfast {
namespace {

template <typename Options>
consteval bool knows(bool renewal, bool fencing, bool fair, bool retain, bool queue_limit,
                     bool lock_delay, bool reentry) {
  return requires(Options o) { o.lease; } && renewal == requires(Options o) { o.renewal; } &&
         fencing == requires(Options o) { o.fencing; } && fair == requires(Options o) { o.fair; } &&
         retain == requires(Options o) { o.retain; } &&
         queue_limit == requires(Options o) { o.queue_limit; } &&
         lock_delay == requires(Options o) { o.lock_delay; } &&
         reentry == requires(Options o) { o.reentry; };
}

constexpr bool yes = true, no = false;

// clang-format off
//                                           renewal fencing fair retain queue delay reentry
static_assert(knows<mutex_options>          (yes,    yes,    yes, yes,   yes,  yes,  yes));
static_assert(knows<recursive_mutex_options>(yes,    yes,    yes, yes,   yes,  yes,  no));
static_assert(knows<read_write_options>     (yes,    no,     yes, no,    yes,  yes,  yes));
static_assert(knows<mode_lock_options>      (yes,    no,     yes, no,    yes,  yes,  yes));
static_assert(knows<semaphore_options>      (yes,    no,     no,  no,    yes,  no,   no));
static_assert(knows<election_options>       (no,     no,     no,  no,    yes,  no,   no));
static_assert(knows<quorum_mutex_options>   (yes,    no,     no,  no,    no,   yes,  yes));
// clang-format on

// As a user writes it: no kind takes the options of another.
template <typename Redis>
concept semaphores_can_be_fair = requires(const Redis& it) { it.semaphore("a", {.fair = true}); };
template <typename Redis>
concept readers_can_be_retained =
    requires(const Redis& it) { it.read_write_lock("a", {.retain = std::chrono::seconds{1}}); };
template <typename Redis>
concept writers_take_options_of_mutexes =
    requires(const Redis& it) { it.read_write_lock("a", mutex_options{}); };
static_assert(!semaphores_can_be_fair<client>);
static_assert(!readers_can_be_retained<client>);
static_assert(!writers_take_options_of_mutexes<client>);

}  // namespace
}  // namespace holdfast
