//go:build unix

package speed

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the time that the process has spent on processors. On a machine that does other work too it tells more
// than a clock.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return wallTime()
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
