"""Takes locks as python-redis-lock does; see tests/interop/README.md."""

import logging
import math
import sys

import redis_lock

from driver import Driver

logging.getLogger("redis_lock").setLevel(logging.ERROR)  # it warns of each lock that is busy


class PythonRedisLockDriver(Driver):
    NOT_OURS = redis_lock.NotAcquired

    def __init__(self, host, port, lease_ms):
        super().__init__(host, port)
        self.lease_ms = int(lease_ms)  # of those that are renewed

    # The library counts in whole seconds.
    def lock(self, name, lease_ms, **options):
        return redis_lock.Lock(self.redis, name, expire=math.ceil(lease_ms / 1000), **options)

    def taken(self, name, lease_ms, wait_ms):
        if lease_ms:
            lock = self.lock(name, lease_ms)
        else:
            lock = self.lock(name, self.lease_ms, auto_renewal=True)
        patience = {"timeout": math.ceil(wait_ms / 1000)} if wait_ms else {"blocking": False}
        return lock if lock.acquire(**patience) else None

    def holds(self, name):
        lock = self.locks.get(name)
        return "1" if lock and lock.get_owner_id() == lock.id else "0"


PythonRedisLockDriver(*sys.argv[1:4]).run()
