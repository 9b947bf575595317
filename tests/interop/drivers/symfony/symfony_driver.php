<?php
// Takes locks as Symfony's RedisStore does; NAME/read is a reader. Its first argument is the
// autoload.php of the library. See tests/interop/README.md.
declare(strict_types=1);

use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;

const LONG = 30.0;  // s: nothing of the library renews a lock
const POLL = 10000;  // us; the library's own is ten times as long

final class Driver
{
    private array $held = [];  // what was acquired last is the last
    private Redis $redis;
    private LockFactory $locks;

    public function __construct(private string $host, private int $port)
    {
        $this->connect();
    }

    public function connect(): void
    {
        $this->redis = new Redis();
        $this->redis->connect($this->host, $this->port);
        $this->locks = new LockFactory(new RedisStore($this->redis));
    }

    private function take(string $word, float $lease, float $wait): ?object
    {
        $reads = str_ends_with($word, '/read');
        $lock = $this->locks->createLock(explode('/', $word)[0], $lease, false);
        $end = microtime(true) + $wait;
        while (!($reads ? $lock->acquireRead() : $lock->acquire())) {
            if (microtime(true) >= $end) {
                return null;
            }
            usleep(POLL);
        }

        return $lock;
    }

    private function acquire(string $word, int $lease, int $wait): string
    {
        $lock = $this->take($word, 0 === $lease ? LONG : $lease / 1000, $wait / 1000);
        if (null === $lock) {
            return 'busy';
        }
        $this->held[$word][] = $lock;

        return 'ok';
    }

    // The library says nothing when the lock is another's by then.
    private function release(string $word): string
    {
        if (empty($this->held[$word])) {
            return 'refused';
        }
        $lock = array_pop($this->held[$word]);
        $was_ours = $lock->isAcquired();
        $lock->release();

        return $was_ours ? 'ok' : 'refused';
    }

    // Processes, since there are no threads.
    private function increment(string $word, string $counter, int $workers, int $rounds): string
    {
        $children = [];
        for ($i = 0; $i < $workers; ++$i) {
            $child = pcntl_fork();
            if (0 === $child) {
                $this->work($word, $counter, $rounds);
                posix_kill(getmypid(), SIGKILL);  // its copies of our objects do nothing any more
            }
            $children[] = $child;
        }
        foreach ($children as $child) {
            pcntl_waitpid($child, $status);
        }

        return 'ok';
    }

    private function work(string $word, string $counter, int $rounds): void
    {
        $this->connect();
        for ($round = 0; $round < $rounds; ++$round) {
            $lock = $this->take($word, LONG, 60);
            $this->redis->set($counter, 1 + (int) $this->redis->get($counter));
            $lock->release();
        }
    }

    private function holds(string $word): string
    {
        $all = array_filter($this->held[$word] ?? [], static fn ($lock) => $lock->isAcquired());

        return (string) count($all);
    }

    private function change(string $word, bool $writes): string
    {
        $lock = end($this->held[$word]);

        return ($writes ? $lock->acquire() : $lock->acquireRead()) ? 'ok' : 'busy';
    }

    public function obey(array $words): string
    {
        [$what, $name] = [$words[0], $words[1] ?? ''];
        $at = static fn (int $i): int => (int) ($words[$i] ?? 0);

        return match ($what) {
            'acquire' => $this->acquire($name, $at(2), $at(3)),
            'release' => $this->release($name),
            'increment' => $this->increment($name, $words[2], $at(3), $at(4)),
            'locked' => 'unknown',
            'holds' => $this->holds($name),
            'promote' => $this->change($name, true),
            'demote' => $this->change($name, false),
            default => 'error unknown command',
        };
    }
}

require $argv[1];
$driver = new Driver($argv[2], (int) $argv[3]);
while (false !== ($line = fgets(STDIN)) && "quit\n" !== $line) {
    try {
        $answer = $driver->obey(explode(' ', trim($line)));
    } catch (Throwable $failed) {
        $answer = 'error '.strtok($failed->getMessage(), "\n");
    }
    fwrite(STDOUT, $answer."\n");
}
