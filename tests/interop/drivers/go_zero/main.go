// Takes locks as go-zero does; see tests/interop/README.md.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stores/redis"
)

const pause = 10 * time.Millisecond // go-zero's locks do not wait: this is what a caller does

var (
	store *redis.Redis
	locks = map[string]*redis.RedisLock{}
)

// In whole seconds; go-zero adds 500 ms, so a lease of up to that is one of 0 seconds.
func newLock(name string, leaseMs int) *redis.RedisLock {
	lock := redis.NewRedisLock(store, name)
	lock.SetExpire(leaseMs / 1000)
	return lock
}

func number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		panic(err)
	}
	return n
}

func wait(lock *redis.RedisLock, until time.Time) (bool, error) {
	for {
		ok, err := lock.Acquire()
		if ok || err != nil || time.Now().After(until) {
			return ok, err
		}
		time.Sleep(pause)
	}
}

func acquire(name string, leaseMs, waitMs int) string {
	if leaseMs == 0 {
		leaseMs = 30000
	}
	lock := newLock(name, leaseMs)
	ok, err := wait(lock, time.Now().Add(time.Duration(waitMs)*time.Millisecond))
	if err != nil {
		return "error " + err.Error()
	}
	if !ok {
		return "busy"
	}
	locks[name] = lock
	return "ok"
}

func release(name string) string {
	lock, known := locks[name]
	if !known {
		lock = newLock(name, 30000)
	}
	delete(locks, name)
	ok, err := lock.Release()
	if err != nil {
		return "error " + err.Error()
	}
	if !ok {
		return "refused"
	}
	return "ok"
}

func incrementOnce(lock *redis.RedisLock, counter string) error {
	if ok, err := wait(lock, time.Now().Add(time.Minute)); err != nil || !ok {
		return fmt.Errorf("no lock: %v", err)
	}
	text, err := store.Get(counter)
	if err != nil {
		return err
	}
	if text == "" {
		text = "0"
	}
	if err := store.Set(counter, strconv.Itoa(number(text)+1)); err != nil {
		return err
	}
	_, err = lock.Release()
	return err
}

func increment(name, counter string, threads, rounds int) string {
	var workers sync.WaitGroup
	answer := "ok"
	for i := 0; i < threads; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			lock := newLock(name, 30000)
			for round := 0; round < rounds; round++ {
				if err := incrementOnce(lock, counter); err != nil {
					answer = "error " + err.Error()
					return
				}
			}
		}()
	}
	workers.Wait()
	return answer
}

func obey(words []string) string {
	switch words[0] {
	case "acquire":
		return acquire(words[1], number(words[2]), number(words[3]))
	case "release":
		return release(words[1])
	case "increment":
		return increment(words[1], words[2], number(words[3]), number(words[4]))
	case "locked":
		return "unknown"
	case "holds":
		if _, held := locks[words[1]]; held {
			return "1"
		}
		return "0"
	}
	return "error unknown command"
}

func main() {
	logx.Disable()
	store = redis.MustNewRedis(redis.RedisConf{Host: os.Args[1] + ":" + os.Args[2], Type: "node"})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if words[0] == "quit" {
			return
		}
		fmt.Println(obey(words))
	}
}
