// Counts down, and waits, as Redisson's RCountDownLatch does. See tests/interop/README.md.

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public class RedissonLatchDriver extends Program {
    final RedissonClient redis;

    RedissonLatchDriver(Config config) {
        redis = Redisson.create(config);
    }

    String countDown(RCountDownLatch latch, int threads, int rounds) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Callable<Void>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(() -> {
                for (int round = 0; round < rounds; round++) latch.countDown();
                return null;
            });
        }
        for (Future<Void> one : pool.invokeAll(all)) one.get();
        pool.shutdown();
        return "ok";
    }

    @Override
    String obey(String[] words) throws Exception {
        RCountDownLatch latch = redis.getCountDownLatch(words[1]);
        switch (words[0]) {
            case "set":
                return latch.trySetCount(Long.parseLong(words[2])) ? "ok" : "refused";
            case "down":
                return countDown(latch, Integer.parseInt(words[2]), Integer.parseInt(words[3]));
            case "count":
                return Long.toString(latch.getCount());
            case "await":
                return latch.await(Long.parseLong(words[2]), TimeUnit.MILLISECONDS) ? "ok" : "busy";
            default:
                return "error unknown command";
        }
    }

    public static void main(String[] args) throws Exception {
        new RedissonLatchDriver(Topology.of(args, 2)).run();
    }
}
