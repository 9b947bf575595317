// Takes locks as Spring Integration's RedisLockRegistry does, in the mode that is said last; see
// tests/interop/README.md.

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ConcurrentModificationException;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

public class SpringIntegrationDriver extends Driver {
    static final String KEY = "interop";

    final StringRedisTemplate redis;
    final RedisLockRegistry renewed, fixed;
    // A lock cannot be asked how often it is held.
    final Map<String, Deque<DistributedLock>> held = new HashMap<>();

    SpringIntegrationDriver(String host, int port, long leaseMs, String mode) {
        LettuceConnectionFactory connections = new LettuceConnectionFactory(host, port);
        connections.afterPropertiesSet();
        connections.start();
        redis = new StringRedisTemplate(connections);
        renewed = registry(connections, leaseMs, mode);
        ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
        scheduler.initialize();
        renewed.setRenewalTaskScheduler(scheduler);
        fixed = registry(connections, leaseMs, mode);
    }

    static RedisLockRegistry registry(LettuceConnectionFactory connections, long leaseMs,
                                      String mode) {
        RedisLockRegistry made = new RedisLockRegistry(connections, KEY, leaseMs);
        made.setRedisLockType(RedisLockRegistry.RedisLockType.valueOf(mode));
        made.setIdleBetweenTries(Duration.ofMillis(10));
        return made;
    }

    String acquire(String name, long leaseMs, long waitMs, long leastMs) throws Exception {
        DistributedLock lock = (leaseMs == 0 ? renewed : fixed).obtain(name);
        boolean got = leaseMs == 0 ? lock.tryLock(waitMs, TimeUnit.MILLISECONDS)
                                   : lock.tryLock(Duration.ofMillis(waitMs),
                                                  Duration.ofMillis(leaseMs));
        if (got) held.computeIfAbsent(name, none -> new ArrayDeque<>()).push(lock);
        return got ? "ok" : "busy";
    }

    String release(String name) {
        Deque<DistributedLock> all = held.computeIfAbsent(name, none -> new ArrayDeque<>());
        DistributedLock lock = all.isEmpty() ? fixed.obtain(name) : all.pop();
        try {
            lock.unlock();
        } catch (IllegalStateException | ConcurrentModificationException notOurs) {
            return "refused";
        }
        return "ok";
    }

    String locked(String name) {
        return "unknown";
    }

    int holds(String name) {
        return held.containsKey(name) ? held.get(name).size() : 0;
    }

    void inside(String name, Callable<Void> section) throws Exception {
        DistributedLock lock = fixed.obtain(name);
        lock.lock(Duration.ofSeconds(30));
        try {
            section.call();
        } finally {
            lock.unlock();
        }
    }

    String get(String key) {
        return redis.opsForValue().get(key);
    }

    void set(String key, String value) {
        redis.opsForValue().set(key, value);
    }

    public static void main(String[] args) throws Exception {
        new SpringIntegrationDriver(args[0], Integer.parseInt(args[1]), Long.parseLong(args[2]),
                                    args[3]).run();
    }
}
