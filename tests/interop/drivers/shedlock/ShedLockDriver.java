// Takes locks as ShedLock does over Spring's templates; see tests/interop/README.md.

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

public class ShedLockDriver extends Driver {
    static final long PAUSE = 10; // ShedLock's locks do not wait: this is what a caller would do

    final StringRedisTemplate redis;
    final LockProvider provider;
    // What was acquired, and the value that the key had then.
    record Held(SimpleLock lock, String value) {}
    final Map<String, Held> held = new HashMap<>();

    ShedLockDriver(String host, int port) {
        LettuceConnectionFactory connections = new LettuceConnectionFactory(host, port);
        connections.afterPropertiesSet();
        connections.start();
        redis = new StringRedisTemplate(connections);
        // Without it, unlock is a DEL, of whoever has the lock by then.
        provider = new RedisLockProvider.Builder(connections).safeUpdate(true).build();
    }

    Optional<SimpleLock> wait(String name, long leaseMs, long waitMs, long leastMs)
            throws Exception {
        Instant until = Instant.now().plusMillis(waitMs);
        while (true) {
            Optional<SimpleLock> got = provider.lock(
                new LockConfiguration(Instant.now(), name, Duration.ofMillis(leaseMs),
                                      Duration.ofMillis(leastMs)));
            if (got.isPresent() || Instant.now().isAfter(until)) return got;
            Thread.sleep(PAUSE);
        }
    }

    String acquire(String name, long leaseMs, long waitMs, long leastMs) throws Exception {
        Optional<SimpleLock> got = wait(name, leaseMs == 0 ? 30_000 : leaseMs, waitMs, leastMs);
        got.ifPresent(lock -> held.put(name, new Held(lock, get(key(name)))));
        return got.isPresent() ? "ok" : "busy";
    }

    // unlock does not tell whether the lock was still there: this looks before.
    String release(String name) {
        Held mine = held.remove(name);
        if (mine == null) return "refused";
        boolean isThere = mine.value.equals(get(key(name)));
        mine.lock.unlock();
        return isThere ? "ok" : "refused";
    }

    String locked(String name) {
        return "unknown";
    }

    int holds(String name) {
        return held.containsKey(name) ? 1 : 0;
    }

    void inside(String name, Callable<Void> section) throws Exception {
        SimpleLock lock = wait(name, 30_000, 60_000, 0).get();
        try {
            section.call();
        } finally {
            lock.unlock();
        }
    }

    static String key(String name) {
        return "job-lock:default:" + name;
    }

    String get(String key) {
        return redis.opsForValue().get(key);
    }

    void set(String key, String value) {
        redis.opsForValue().set(key, value);
    }

    public static void main(String[] args) throws Exception {
        new ShedLockDriver(args[0], Integer.parseInt(args[1])).run();
    }
}
