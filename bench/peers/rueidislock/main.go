// rueidislock with one key a lock and NOLOOP tracking, its fastest mode: goroutines that each take
// and give back a lock of their own. Prints pairs a second.
//
//	rueidislock PORT GOROUTINES MILLISECONDS
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

func number(at int) int {
	n, err := strconv.Atoi(os.Args[at])
	if err != nil {
		panic(err)
	}
	return n
}

func main() {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{"127.0.0.1:" + os.Args[1]}},
		KeyMajority:    1,
		NoLoopTracking: true,
		KeyValidity:    30 * time.Second,
	})
	if err != nil {
		panic(err)
	}
	defer locker.Close()

	var pairs atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	end := begin.Add(time.Duration(number(3)) * time.Millisecond)
	for i := 0; i < number(2); i++ {
		all.Add(1)
		go func(name string) {
			defer all.Done()
			for time.Now().Before(end) {
				_, release, err := locker.WithContext(context.Background(), name)
				if err != nil {
					panic(err)
				}
				release()
				pairs.Add(1)
			}
		}("bench-" + strconv.Itoa(i))
	}
	all.Wait()
	fmt.Println(float64(pairs.Load()) / time.Since(begin).Seconds())
}
