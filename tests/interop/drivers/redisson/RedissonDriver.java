// Takes locks as Redisson does, of the kind that is said; see tests/interop/README.md.

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

public class RedissonDriver extends Driver {
    static final String READER = "/read";

    final RedissonClient redis;
    final String kind;
    final Map<String, Long> tokens = new HashMap<>();

    RedissonDriver(Config config, long watchdogMs, String kind) {
        this.kind = kind;
        config.setLockWatchdogTimeout(watchdogMs);
        redis = Redisson.create(config);
    }

    RLock lock(String name) {
        switch (kind) {
            case "spin":
                return redis.getSpinLock(name);
            case "fair":
                return redis.getFairLock(name);
            case "multi":
                return several(name);
            case "fenced":
                return redis.getFencedLock(name);
            case "rw":
                if (!name.endsWith(READER)) return redis.getReadWriteLock(name).writeLock();
                return redis.getReadWriteLock(name.substring(0, name.length() - READER.length()))
                    .readLock();
            default:
                return redis.getLock(name);
        }
    }

    // Those called "crossed" the other way round.
    RLock several(String name) {
        RLock first = redis.getLock(name + ".1");
        RLock second = redis.getLock(name + ".2");
        return name.equals("crossed") ? redis.getMultiLock(second, first)
                                      : redis.getMultiLock(first, second);
    }

    // Without a lease of its own a lock is renewed, by the watchdog.
    String acquire(String name, long leaseMs, long waitMs, long leastMs) throws Exception {
        RLock lock = lock(name);
        if (lock instanceof RFencedLock) return acquire((RFencedLock) lock, leaseMs, waitMs);
        boolean got = leaseMs == 0 ? lock.tryLock(waitMs, TimeUnit.MILLISECONDS)
                                   : lock.tryLock(waitMs, leaseMs, TimeUnit.MILLISECONDS);
        return got ? "ok" : "busy";
    }

    String acquire(RFencedLock lock, long leaseMs, long waitMs) {
        Long token = leaseMs == 0
                         ? lock.tryLockAndGetToken(waitMs, TimeUnit.MILLISECONDS)
                         : lock.tryLockAndGetToken(waitMs, leaseMs, TimeUnit.MILLISECONDS);
        if (token != null) tokens.put(lock.getName(), token);
        return token != null ? "ok" : "busy";
    }

    String release(String name) {
        try {
            lock(name).unlock();
        } catch (IllegalMonitorStateException notOurs) {
            return "refused";
        }
        return "ok";
    }

    String locked(String name) {
        if (kind.equals("multi")) return "unknown";  // nor does Redisson
        return lock(name).isLocked() ? "yes" : "no";
    }

    int holds(String name) {
        return kind.equals("multi") ? redis.getLock(name + ".1").getHoldCount()
                                    : lock(name).getHoldCount();
    }

    String token(String name) {
        return tokens.get(name).toString();
    }

    void inside(String name, Callable<Void> section) throws Exception {
        RLock lock = lock(name);
        lock.lock();
        try {
            section.call();
        } finally {
            lock.unlock();
        }
    }

    String get(String key) {
        return redis.<String>getBucket(key, StringCodec.INSTANCE).get();
    }

    void set(String key, String value) {
        redis.<String>getBucket(key, StringCodec.INSTANCE).set(value);
    }

    public static void main(String[] args) throws Exception {
        new RedissonDriver(Topology.of(args, 4), Long.parseLong(args[2]), args[3]).run();
    }
}
