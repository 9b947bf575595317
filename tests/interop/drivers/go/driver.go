// Package driver is what the drivers on Go's libraries have in common; see tests/interop/README.md.
package driver

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Lock is one lock of the library, that one goroutine uses.
type Lock interface {
	TryLock() (bool, error) // false: it is busy
	Unlock() (bool, error)  // false: it was not ours
}

// Waiter is a lock that waits in its library's own way.
type Waiter interface {
	LockWithin(patience time.Duration) (bool, error)
}

// Library is what is driven. A lease of 0 is its own.
type Library interface {
	New(name string, lease time.Duration) Lock
	Get(key string) (string, error) // empty: there is none
	Set(key, value string) error
}

const pause = 10 * time.Millisecond // the least that who waits does so

var locks = map[string]Lock{}

// Number reads what must be one.
func Number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		panic(err)
	}
	return n
}

func wait(lock Lock, until time.Time) (bool, error) {
	if waiter, can := lock.(Waiter); can && time.Now().Before(until) {
		return waiter.LockWithin(time.Until(until))
	}
	for {
		ok, err := lock.TryLock()
		if ok || err != nil || time.Now().After(until) {
			return ok, err
		}
		time.Sleep(pause + time.Duration(rand.Int63n(int64(pause))))
	}
}

func acquire(library Library, name string, lease, patience time.Duration) string {
	lock := library.New(name, lease)
	ok, err := wait(lock, time.Now().Add(patience))
	if err != nil {
		return "error " + err.Error()
	}
	if !ok {
		return "busy"
	}
	locks[name] = lock
	return "ok"
}

func release(library Library, name string) string {
	lock, known := locks[name]
	if !known {
		lock = library.New(name, 0)
	}
	delete(locks, name)
	ok, err := lock.Unlock()
	if err != nil {
		return "error " + err.Error()
	}
	if !ok {
		return "refused"
	}
	return "ok"
}

func incrementOnce(library Library, lock Lock, counter string) error {
	if ok, err := wait(lock, time.Now().Add(time.Minute)); err != nil || !ok {
		return fmt.Errorf("no lock: %v", err)
	}
	text, err := library.Get(counter)
	if err != nil {
		return err
	}
	if text == "" {
		text = "0"
	}
	if err := library.Set(counter, strconv.Itoa(Number(text)+1)); err != nil {
		return err
	}
	_, err = lock.Unlock()
	return err
}

func increment(library Library, name, counter string, threads, rounds int) string {
	failures := make(chan error, threads)
	var workers sync.WaitGroup
	for i := 0; i < threads; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			lock := library.New(name, 0)
			for round := 0; round < rounds; round++ {
				if err := incrementOnce(library, lock, counter); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	workers.Wait()
	select {
	case err := <-failures:
		return "error " + err.Error()
	default:
		return "ok"
	}
}

func obey(library Library, words []string) string {
	milliseconds := func(word string) time.Duration {
		return time.Duration(Number(word)) * time.Millisecond
	}
	switch words[0] {
	case "acquire":
		return acquire(library, words[1], milliseconds(words[2]), milliseconds(words[3]))
	case "release":
		return release(library, words[1])
	case "increment":
		return increment(library, words[1], words[2], Number(words[3]), Number(words[4]))
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

// Run obeys the lines on the standard input.
func Run(library Library) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if words[0] == "quit" {
			return
		}
		fmt.Println(obey(library, words))
	}
}
