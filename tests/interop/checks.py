"""What the tests of the interop suite share."""

WATCHDOG = 3000  # ms: the lease of the libraries' own locks that are renewed
PATIENCE = 20000  # ms: longer than anything here should take
# ms: a waiter of some libraries hears nothing of a lease that ends, and wakes when its time is up.
NOTICE = 3000


class Failed(Exception):
    pass


def expect(got, wanted, what):
    if got != wanted:
        raise Failed(f"{what}: {got!r} instead of {wanted!r}")
