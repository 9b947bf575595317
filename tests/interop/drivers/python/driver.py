"""What the drivers on Python libraries have in common; see tests/interop/README.md."""

import sys
import threading

import redis


class Driver:
    """What differs: NOT_OURS, an error of release; `lock`, `taken` (a lock or None) and `holds`."""

    def __init__(self, host, port):
        self.redis = redis.Redis(host=host, port=int(port))
        self.locks = {}

    def acquire(self, name, lease_ms, wait_ms):
        lock = self.taken(name, int(lease_ms), int(wait_ms))
        if lock is None:
            return "busy"
        self.locks[name] = lock
        return "ok"

    def release(self, name):
        lock = self.locks.pop(name, None) or self.lock(name, 30000)
        try:
            lock.release()
        except self.NOT_OURS:
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

    def run(self):
        for line in sys.stdin:
            command, *words = line.split()
            if command == "quit":
                return
            try:
                answer = getattr(self, command)(*words)
            except Exception as error:
                answer = f"error {type(error).__name__}: {error}"
            print(answer, flush=True)
