// The sentences that hold for every kind of lock that is held.
#pragma once

#include "reference/run.hpp"

namespace holdfast::reference::promises {

inline constexpr sentence together{
    "docs/guarantees.md",
    "For locks that several can hold S1 reads: at any instant only holders that go together, and "
    "never more permits in use than there are."};
inline constexpr sentence tokens{
    "docs/guarantees.md, S2",
    "Each grant of a lock has a larger fencing token than every grant before it. [...] For readers "
    "S2 reads: a token is above that of every earlier writer and below that of every later one."};
inline constexpr sentence belief{
    "docs/guarantees.md, S3",
    "deadline = sent + PTTL - rate x PTTL - 2 ms [...] PTTL: what the server said is left"};
inline constexpr sentence loss{
    "docs/guarantees.md, S4",
    "Every lease that ends before it was released is reported through `lease::lost()` at its "
    "deadline at the latest"};
inline constexpr sentence renewed{
    "docs/guarantees.md",
    "A lease that is renewed lasts while its process runs, the server answers, and nobody breaks "
    "it."};
inline constexpr sentence handed_over{
    "docs/guarantees.md, L2",
    "Waiters stand in a queue at the server. A release makes the first of them the holder and "
    "notifies it."};
inline constexpr sentence once{"include/holdfast/lock.hpp",
                               "`try_acquire` asks once (or waits as long as told) and returns "
                               "busy, timed out and cancelled as values."};
inline constexpr sentence released{
    "include/holdfast/lease.hpp, release",
    "Releases and waits for the answer [...]. `lost` when it was no longer ours."};
inline constexpr sentence extended{
    "include/holdfast/lease.hpp, extend",
    "Makes the lease last at least `duration` from now; never shortens it. [...] Errors: - `lost`. "
    "[...] Throws `invalid_argument` unless `duration` is 10 ms to 24 h"};
inline constexpr sentence shown{
    "include/holdfast/inspector.hpp",
    "All who hold it, the owner first: at most 100, in the order of their grants. [...] How many "
    "requests wait in the queue on the server. [...] in the order of their turns."};
inline constexpr sentence changed{
    "include/holdfast/mode_lock.hpp, change; read_write_lock.hpp, upgrade",
    "When it is acquired, its holder has the mode `to` in the place of `held`. `held` stays held "
    "until then [...]. Afterwards `held` says \"not held\", without a loss."};
inline constexpr sentence change_of_ended{
    "include/holdfast/mode_lock.hpp, change; read_write_lock.hpp, upgrade",
    "Errors besides those of every lock: [...] `lost` when `held` had ended"};
inline constexpr sentence less{"docs/kinds.md, Mode lock; read_write_lock.hpp, downgrade",
                               "A holder that wants less than it has waits for nobody."};
inline constexpr sentence deadlock{
    "docs/kinds.md, Mode lock",
    "Suppose that a change waits until another holder gives up its mode. If that holder then asks "
    "for more than it has, neither could go on [...]. So the second is told `would_deadlock` at "
    "once."};
inline constexpr sentence reentry{"include/holdfast/options.hpp, reentry",
                                  "`errc::would_deadlock` at once. The default."};
inline constexpr sentence kept{"include/holdfast/options.hpp, retain",
                               "A client that asks once is refused, but finds the lock free when "
                               "it asks again."};
inline constexpr sentence limit{
    "include/holdfast/options.hpp, queue_limit",
    "How many may wait in the queue on the server; the next gets `queue_full`. The threads of a "
    "client count as one, unless the lock is `fair`. [...] Zero: nobody may wait."};
inline constexpr sentence too_many{"include/holdfast/lock.hpp",
                                   "`invalid_argument` (more permits than there are)"};
inline constexpr sentence broken{
    "include/holdfast/inspector.hpp, break_lock",
    "Takes a lock away from all who have it, whatever they are doing."};
inline constexpr sentence gone{"include/holdfast/inspector.hpp, lock_status", "free, ///< No key."};

}  // namespace holdfast::reference::promises
