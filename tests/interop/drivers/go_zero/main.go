// Takes locks as go-zero does; see tests/interop/README.md.
package main

import (
	"os"
	"time"

	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stores/redis"

	"holdfast/interop/driver"
)

type library struct{ store *redis.Redis }

// In whole seconds; go-zero adds 500 ms, so a lease of up to that is one of 0 seconds.
func (l library) New(name string, lease time.Duration) driver.Lock {
	if lease == 0 {
		lease = 30 * time.Second
	}
	lock := redis.NewRedisLock(l.store, name)
	lock.SetExpire(int(lease / time.Second))
	return held{lock}
}

func (l library) Get(key string) (string, error) { return l.store.Get(key) }
func (l library) Set(key, value string) error    { return l.store.Set(key, value) }

type held struct{ lock *redis.RedisLock }

func (h held) TryLock() (bool, error) { return h.lock.Acquire() }
func (h held) Unlock() (bool, error)  { return h.lock.Release() }

func main() {
	logx.Disable()
	address := os.Args[1] + ":" + os.Args[2]
	driver.Run(library{redis.MustNewRedis(redis.RedisConf{Host: address, Type: "node"})})
}
