"""Takes locks as redis-py does; see tests/interop/README.md."""

import sys

from redis.exceptions import LockError

from driver import Driver

POLL = 0.01  # seconds; redis-py's own default is 0.1


class RedisPyDriver(Driver):
    NOT_OURS = LockError

    def lock(self, name, lease_ms):
        return self.redis.lock(name, timeout=lease_ms / 1000, sleep=POLL)

    def taken(self, name, lease_ms, wait_ms):
        # redis-py renews nothing, so its own lease is one that lasts.
        lock = self.lock(name, lease_ms or 30000)
        return lock if lock.acquire(blocking_timeout=wait_ms / 1000) else None

    def holds(self, name):
        return "1" if name in self.locks and self.locks[name].owned() else "0"


RedisPyDriver(sys.argv[1], sys.argv[2]).run()
