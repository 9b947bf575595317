// Takes permits as Redisson's semaphores do, of the kind that is said, of which there are LIMIT
// each; NAME/N are N of them. See tests/interop/README.md.

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public class RedissonSemaphoreDriver extends Driver {
    static final int LIMIT = 3;
    static final long PATIENCE = 60000;  // ms

    final RedissonClient redis;
    final boolean isExpirable;
    // What was acquired last is first; without ids where there are none.
    final Map<String, Deque<List<String>>> held = new HashMap<>();

    RedissonSemaphoreDriver(Config config, String kind) {
        isExpirable = kind.equals("expirable");
        redis = Redisson.create(config);
    }

    static String nameOf(String word) {
        return word.substring(0, word.indexOf('/'));
    }

    static int countOf(String word) {
        return Integer.parseInt(word.substring(word.indexOf('/') + 1));
    }

    // Null: there are not so many.
    List<String> take(String word, long leaseMs, long waitMs) throws Exception {
        int count = countOf(word);
        if (!isExpirable) {
            RSemaphore all = redis.getSemaphore(nameOf(word));
            all.trySetPermits(LIMIT);
            return all.tryAcquire(count, Duration.ofMillis(waitMs)) ? List.of() : null;
        }
        RPermitExpirableSemaphore all = redis.getPermitExpirableSemaphore(nameOf(word));
        all.trySetPermits(LIMIT);
        List<String> ids = all.tryAcquire(count, waitMs, leaseMs == 0 ? -1 : leaseMs,
                                          TimeUnit.MILLISECONDS);
        return ids.isEmpty() ? null : ids;
    }

    boolean giveBack(String word, List<String> ids) {
        if (!isExpirable) {
            redis.getSemaphore(nameOf(word)).release(countOf(word));
            return true;
        }
        RPermitExpirableSemaphore all = redis.getPermitExpirableSemaphore(nameOf(word));
        return ids.size() == 1 ? all.tryRelease(ids.get(0)) : all.tryRelease(ids) == ids.size();
    }

    String acquire(String word, long leaseMs, long waitMs, long leastMs) throws Exception {
        List<String> ids = take(word, leaseMs, waitMs);
        if (ids == null) return "busy";
        held.computeIfAbsent(word, w -> new ArrayDeque<>()).push(ids);
        return "ok";
    }

    String release(String word) {
        Deque<List<String>> all = held.getOrDefault(word, new ArrayDeque<>());
        return !all.isEmpty() && giveBack(word, all.pop()) ? "ok" : "refused";
    }

    String locked(String word) {
        return "unknown";
    }

    int holds(String word) {
        return held.getOrDefault(word, new ArrayDeque<>()).size();
    }

    void inside(String word, Callable<Void> section) throws Exception {
        List<String> ids = take(word, 0, PATIENCE);
        try {
            section.call();
        } finally {
            giveBack(word, ids);
        }
    }

    int add(String counter, int by) {
        return (int) redis.getAtomicLong(counter).addAndGet(by);
    }

    public static void main(String[] args) throws Exception {
        new RedissonSemaphoreDriver(Topology.of(args, 3), args[2]).run();
    }
}
