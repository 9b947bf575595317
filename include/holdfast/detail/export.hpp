/// \file
/// What programs see of the shared library. Not for users.
#pragma once

/// Stands before what a header declares and the library defines. All else of the library is hidden,
/// so that nothing outside depends on it.
#define HOLDFAST_EXPORT [[gnu::visibility("default")]]
