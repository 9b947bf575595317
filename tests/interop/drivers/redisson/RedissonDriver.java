// Takes locks as Redisson does; see tests/interop/README.md.

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

public class RedissonDriver extends Driver {
    final RedissonClient redis;

    RedissonDriver(String host, String port, long watchdogMs) {
        Config config = new Config();
        config.setLockWatchdogTimeout(watchdogMs);
        config.useSingleServer().setAddress("redis://" + host + ":" + port);
        redis = Redisson.create(config);
    }

    // Without a lease of its own a lock is renewed, by the watchdog.
    String acquire(String name, long leaseMs, long waitMs, long leastMs) throws Exception {
        RLock lock = redis.getLock(name);
        boolean got = leaseMs == 0 ? lock.tryLock(waitMs, TimeUnit.MILLISECONDS)
                                   : lock.tryLock(waitMs, leaseMs, TimeUnit.MILLISECONDS);
        return got ? "ok" : "busy";
    }

    String release(String name) {
        try {
            redis.getLock(name).unlock();
        } catch (IllegalMonitorStateException notOurs) {
            return "refused";
        }
        return "ok";
    }

    String locked(String name) {
        return redis.getLock(name).isLocked() ? "yes" : "no";
    }

    int holds(String name) {
        return redis.getLock(name).getHoldCount();
    }

    void inside(String name, Callable<Void> section) throws Exception {
        RLock lock = redis.getLock(name);
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
        new RedissonDriver(args[0], args[1], Long.parseLong(args[2])).run();
    }
}
