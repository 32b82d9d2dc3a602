//go:build !unix

package speed

import "time"

// cpuTime is time by the clock where the system's way to tell that of processors is not known.
func cpuTime() time.Duration { return wallTime() }
