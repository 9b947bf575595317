// Takes locks as Redisson does; see tests/interop/README.md.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

public class Driver {
    static RedissonClient redis;

    // Without a lease of its own a lock is renewed, by the watchdog.
    static String acquire(String name, long leaseMs, long waitMs) throws InterruptedException {
        RLock lock = redis.getLock(name);
        boolean got = leaseMs == 0 ? lock.tryLock(waitMs, TimeUnit.MILLISECONDS)
                                   : lock.tryLock(waitMs, leaseMs, TimeUnit.MILLISECONDS);
        return got ? "ok" : "busy";
    }

    static String release(String name) {
        try {
            redis.getLock(name).unlock();
        } catch (IllegalMonitorStateException notOurs) {
            return "refused";
        }
        return "ok";
    }

    static Void work(String name, String counter, int rounds) {
        RLock lock = redis.getLock(name);
        for (int round = 0; round < rounds; round++) {
            lock.lock();
            try {
                var bucket = redis.<String>getBucket(counter, StringCodec.INSTANCE);
                String now = bucket.get();
                bucket.set(Integer.toString((now == null ? 0 : Integer.parseInt(now)) + 1));
            } finally {
                lock.unlock();
            }
        }
        return null;
    }

    static String increment(String name, String counter, int threads, int rounds) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Callable<Void>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) all.add(() -> work(name, counter, rounds));
        for (Future<Void> one : pool.invokeAll(all)) one.get();
        pool.shutdown();
        return "ok";
    }

    static String obey(String[] words) throws Exception {
        switch (words[0]) {
            case "acquire":
                return acquire(words[1], Long.parseLong(words[2]), Long.parseLong(words[3]));
            case "release":
                return release(words[1]);
            case "increment":
                return increment(words[1], words[2], Integer.parseInt(words[3]),
                                 Integer.parseInt(words[4]));
            case "locked":
                return redis.getLock(words[1]).isLocked() ? "yes" : "no";
            case "holds":
                return Integer.toString(redis.getLock(words[1]).getHoldCount());
            default:
                return "error unknown command";
        }
    }

    public static void main(String[] args) throws Exception {
        Config config = new Config();
        config.setLockWatchdogTimeout(Long.parseLong(args[2]));
        config.useSingleServer().setAddress("redis://" + args[0] + ":" + args[1]);
        redis = Redisson.create(config);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null && !line.equals("quit");
             line = lines.readLine()) {
            String answer;
            try {
                answer = obey(line.split(" "));
            } catch (Exception failed) {
                answer = "error " + failed;
            }
            System.out.println(answer);
            System.out.flush();
        }
        redis.shutdown();
    }
}
