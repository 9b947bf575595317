"""Takes locks as redis-py does; see tests/interop/README.md."""

import sys
import threading

import redis
from redis.exceptions import LockError

POLL = 0.01  # seconds; redis-py's own default is 0.1


class Driver:
    def __init__(self, host, port):
        self.redis = redis.Redis(host=host, port=int(port))
        self.locks = {}

    def lock(self, name, lease_ms):
        return self.redis.lock(name, timeout=lease_ms / 1000, sleep=POLL)

    def acquire(self, name, lease_ms, wait_ms):
        # redis-py renews nothing, so its own lease is one that lasts.
        lock = self.lock(name, int(lease_ms) or 30000)
        if not lock.acquire(blocking_timeout=int(wait_ms) / 1000):
            return "busy"
        self.locks[name] = lock
        return "ok"

    def release(self, name):
        lock = self.locks.pop(name, None) or self.lock(name, 30000)
        try:
            lock.release()
        except LockError:
            return "refused"
        return "ok"

    def increment(self, name, counter, threads, rounds):
        def work():
            lock = self.lock(name, 30000)
            for _ in range(int(rounds)):
                with lock:
                    self.redis.set(counter, int(self.redis.get(counter) or 0) + 1)

        workers = [threading.Thread(target=work) for _ in range(int(threads))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return "ok"

    def locked(self, name):
        return "yes" if self.lock(name, 30000).locked() else "no"

    def holds(self, name):
        return "1" if name in self.locks and self.locks[name].owned() else "0"


def main():
    driver = Driver(sys.argv[1], sys.argv[2])
    for line in sys.stdin:
        command, *words = line.split()
        if command == "quit":
            return
        try:
            answer = getattr(driver, command)(*words)
        except Exception as error:
            answer = f"error {type(error).__name__}: {error}"
        print(answer, flush=True)


main()
