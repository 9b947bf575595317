// What the reference has found and what is not mended yet: it steers around these, so that the rest
// can be tried. All are false when all is well; set one to true only together with an open issue.
#pragma once

namespace holdfast::reference::open_faults {

// A change whose own lease is shorter than what is left believes only the shorter, while the server
// keeps the longer.
inline constexpr bool change_to_a_shorter_lease = true;
// Changing a lease that has ended succeeds, or says busy.
inline constexpr bool change_of_an_ended_lease = true;
// A lease of which held() is false writes the value block, as long as the server still has it.
inline constexpr bool write_by_an_ended_lease = true;
// counter::update computes with doubles.
inline constexpr bool update_beyond_doubles = true;

}  // namespace holdfast::reference::open_faults
