package compile

import (
	"context"
	"maps"
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

// Changed waits until one of the files is another than it was before, and then until all stay as they are. Files that were not looked at before count
// from the first look on. The error is ctx's.
func Changed(ctx context.Context, before Stamps, names []string) error {
	now, was := Stamp(names), make(Stamps)
	for _, name := range names {
		if s, ok := before[name]; ok {
			was[name] = s
		} else if s, ok := now[name]; ok {
			was[name] = s
		}
	}
	for since := time.Now(); maps.Equal(now, was) || time.Since(since) < settled; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
		next := Stamp(names)
		if !maps.Equal(next, now) {
			since = time.Now()
		}
		now = next
	}
	return nil
}
