// What the drivers on locks of Java libraries have in common; see tests/interop/README.md.

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

public abstract class Driver extends Program {
    // Answers "ok" or "busy". Without a lease it is the library's own, renewed if it renews.
    abstract String acquire(String name, long leaseMs, long waitMs, long leastMs) throws Exception;

    // Answers "ok" or "refused".
    abstract String release(String name) throws Exception;

    abstract String locked(String name) throws Exception;

    abstract int holds(String name) throws Exception;

    // Of the last grant of this lock, where there are tokens.
    String token(String name) {
        return "none";
    }

    // Runs this under the lock, however long that takes.
    abstract void inside(String name, Callable<Void> section) throws Exception;

    String get(String key) {
        throw new UnsupportedOperationException();
    }

    void set(String key, String value) {
        throw new UnsupportedOperationException();
    }

    // Answers what it is then.
    int add(String counter, int by) {
        throw new UnsupportedOperationException();
    }

    private Void work(String name, Callable<Void> section, int rounds) throws Exception {
        for (int round = 0; round < rounds; round++) inside(name, section);
        return null;
    }

    private void work(String name, Callable<Void> section, int threads, int rounds)
            throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Callable<Void>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) all.add(() -> work(name, section, rounds));
        for (Future<Void> one : pool.invokeAll(all)) one.get();
        pool.shutdown();
    }

    private String increment(String name, String counter, int threads, int rounds)
            throws Exception {
        work(name, () -> {
            String now = get(counter);
            set(counter, Integer.toString((now == null ? 0 : Integer.parseInt(now)) + 1));
            return null;
        }, threads, rounds);
        return "ok";
    }

    // How many were inside at once, at most.
    private String crowd(String name, String counter, int threads, int rounds) throws Exception {
        AtomicInteger most = new AtomicInteger();
        work(name, () -> {
            most.accumulateAndGet(add(counter, 1), Math::max);
            add(counter, -1);
            return null;
        }, threads, rounds);
        return most.toString();
    }

    @Override
    String obey(String[] words) throws Exception {
        switch (words[0]) {
            case "acquire":
                return acquire(words[1], Long.parseLong(words[2]), Long.parseLong(words[3]),
                               words.length > 4 ? Long.parseLong(words[4]) : 0);
            case "release":
                return release(words[1]);
            case "increment":
                return increment(words[1], words[2], Integer.parseInt(words[3]),
                                 Integer.parseInt(words[4]));
            case "crowd":
                return crowd(words[1], words[2], Integer.parseInt(words[3]),
                             Integer.parseInt(words[4]));
            case "locked":
                return locked(words[1]);
            case "holds":
                return Integer.toString(holds(words[1]));
            case "token":
                return token(words[1]);
            default:
                return "error unknown command";
        }
    }
}
