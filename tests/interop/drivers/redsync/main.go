// Takes locks as redsync does, of one server or of several; see tests/interop/README.md.
package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredislib "github.com/redis/go-redis/v9"

	"holdfast/interop/driver"
)

type library struct {
	locks *redsync.Redsync
	first *goredislib.Client // has the counters
}

func (l library) New(name string, lease time.Duration) driver.Lock {
	if lease == 0 {
		return held{l.locks.NewMutex(name)}
	}
	return held{l.locks.NewMutex(name, redsync.WithExpiry(lease))}
}

func (l library) Get(key string) (string, error) {
	text, err := l.first.Get(context.Background(), key).Result()
	if err == goredislib.Nil {
		return "", nil
	}
	return text, err
}

func (l library) Set(key, value string) error {
	return l.first.Set(context.Background(), key, value, 0).Err()
}

type held struct{ mutex *redsync.Mutex }

// Who has too few votes is told why: a member that has voted for another, or does not answer.
func isRefusal(err error) bool {
	var taken *redsync.ErrTaken
	var nodeTaken *redsync.ErrNodeTaken
	var missing *redsync.RedisError
	return errors.Is(err, redsync.ErrFailed) || errors.Is(err, redsync.ErrLockAlreadyExpired) ||
		errors.As(err, &taken) || errors.As(err, &nodeTaken) || errors.As(err, &missing)
}

func (h held) TryLock() (bool, error) {
	err := h.mutex.TryLock()
	if err != nil && isRefusal(err) {
		return false, nil
	}
	return err == nil, err
}

func (h held) Unlock() (bool, error) {
	ok, err := h.mutex.Unlock()
	if !ok && err != nil && isRefusal(err) {
		return false, nil
	}
	return ok, err
}

// A server that is stopped under way is no news.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...interface{}) {}

func main() {
	goredislib.SetLogger(quiet{})
	var pools []redis.Pool
	var first *goredislib.Client
	for _, port := range strings.Split(os.Args[2], ",") {
		client := goredislib.NewClient(&goredislib.Options{Addr: os.Args[1] + ":" + port})
		pools = append(pools, goredis.NewPool(client))
		if first == nil {
			first = client
		}
	}
	driver.Run(library{redsync.New(pools...), first})
}
