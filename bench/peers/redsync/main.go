// redsync over several servers: one goroutine that takes and gives back one lock. Prints the median
// of a pair, and the processor time that it took of this process, in microseconds.
//
//	redsync MILLISECONDS SOCKET...
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"syscall"
	"time"

	"github.com/go-redsync/redsync/v4"
	pool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func main() {
	milliseconds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	var members []pool.Pool
	for _, socket := range os.Args[2:] {
		members = append(members, goredis.NewPool(redis.NewClient(&redis.Options{Network: "unix", Addr: socket})))
	}
	lock := redsync.New(members...).NewMutex("bench-redsync", redsync.WithExpiry(30*time.Second))
	pair := func() time.Duration {
		begin := time.Now()
		if err := lock.Lock(); err != nil {
			panic(err)
		}
		if _, err := lock.Unlock(); err != nil {
			panic(err)
		}
		return time.Since(begin)
	}
	for i := 0; i < 100; i++ {
		pair()
	}
	var took []time.Duration
	before := processor()
	for end := time.Now().Add(time.Duration(milliseconds) * time.Millisecond); time.Now().Before(end); {
		took = append(took, pair())
	}
	used := processor() - before
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	microseconds := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	fmt.Println(microseconds(took[len(took)/2]), microseconds(used)/float64(len(took)))
}
