package compile

import (
	"context"
	"os"
	"time"
)

// A Stamps says of files what tells whether they have changed: their sizes and the times when they were written. Those that are not there have none.
type Stamps map[string]stamp

type stamp struct {
	size    int64
	written int64
}

// Stamp looks at files.
func Stamp(names []string) Stamps {
	s := make(Stamps)
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			s[name] = stamp{info.Size(), info.ModTime().UnixNano()}
		}
	}
	return s
}

// Between two looks at files, and how long they have to stay as they are before they count as saved: editors write in several steps.
const (
	lookEvery = 100 * time.Millisecond
	settled   = 2 * lookEvery
)

// Changed waits until one of the files is another than it was, and then until all stay as they are. Files that were not looked at before count from the
// first look on. The error is ctx's.
func Changed(ctx context.Context, before Stamps, names []string) error {
	last, since := before, time.Time{}
	first := true
	for {
		now := Stamp(names)
		if first {
			for name, s := range now {
				if _, known := before[name]; !known {
					before[name] = s
				}
			}
			first = false
		}
		if !now.equal(last) {
			since = time.Now()
		}
		last = now
		if !now.equal(before) && !since.IsZero() && time.Since(since) >= settled {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

func (s Stamps) equal(other Stamps) bool {
	if len(s) != len(other) {
		return false
	}
	for name, x := range s {
		if other[name] != x {
			return false
		}
	}
	return true
}
