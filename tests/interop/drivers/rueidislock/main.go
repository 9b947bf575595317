// Takes locks as rueidislock does; see tests/interop/README.md.
//
//	rueidislock HOST PORT LEASE
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"holdfast/interop/driver"
)

const keys = 3 // of a lock, of which two are the majority

type library struct{ locker rueidislock.Locker }

func (l library) New(name string, lease time.Duration) driver.Lock {
	one := &held{library: l, name: name, lease: lease}
	if lease == 0 {
		return renewed{one}
	}
	return one
}

func (l library) Get(key string) (string, error) {
	client := l.locker.Client()
	text, err := client.Do(context.Background(), client.B().Get().Key(key).Build()).ToString()
	if rueidis.IsRedisNil(err) {
		return "", nil
	}
	return text, err
}

func (l library) Set(key, value string) error {
	client := l.locker.Client()
	set := client.B().Set().Key(key).Value(value).Build()
	return client.Do(context.Background(), set).Error()
}

type held struct {
	library
	name   string
	lease  time.Duration // fixed; 0: renewed
	during context.Context
	leave  context.CancelFunc
}

func isRefusal(err error) bool {
	return errors.Is(err, rueidislock.ErrNotLocked) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// The keys beyond the majority are taken a moment later.
func (h *held) entered(during context.Context, leave context.CancelFunc, err error) (bool, error) {
	if err != nil {
		if isRefusal(err) {
			return false, nil
		}
		return false, err
	}
	h.during, h.leave = during, leave
	last := fmt.Sprintf("rueidislock:%d:%s", keys-1, h.name)
	for i := 0; i < 100; i++ {
		if text, err := h.Get(last); err != nil || text != "" {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return true, nil
}

func (h *held) TryLock() (bool, error) {
	within, stop := context.Background(), context.CancelFunc(func() {})
	if h.lease != 0 {
		within, stop = context.WithTimeout(within, h.lease)
	}
	during, leave, err := h.locker.TryWithContext(within, h.name)
	if err != nil {
		stop()
		return h.entered(nil, nil, err)
	}
	return h.entered(during, func() { leave(); stop() }, nil)
}

func (h *held) Unlock() (bool, error) {
	if h.leave == nil {
		return false, nil
	}
	lost := h.during.Err() != nil
	h.leave()
	h.leave = nil
	return !lost, nil
}

// Its own way to wait: the server tells it that a key has changed.
type renewed struct{ *held }

func (h renewed) LockWithin(patience time.Duration) (bool, error) {
	within, giveUp := context.WithCancel(context.Background())
	timer := time.AfterFunc(patience, giveUp)
	during, leave, err := h.locker.WithContext(within, h.name)
	if !timer.Stop() && err == nil {
		leave()
		return false, nil
	}
	return h.entered(during, leave, err)
}

func main() {
	validity := time.Duration(driver.Number(os.Args[3])) * time.Millisecond
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{os.Args[1] + ":" + os.Args[2]}},
		KeyValidity:  validity,
	})
	if err != nil {
		panic(err)
	}
	driver.Run(library{locker})
}
