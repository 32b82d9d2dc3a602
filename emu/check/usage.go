package check

import (
	"fmt"
	"slices"

	"gpa/emu"
)

// A usage says which bytes of a buffer kernels have read or written.
type usage struct {
	name string
	addr uint64
	used marks
}

// TrackUse has a buffer watched for bytes that no kernel reads or writes.
func (c *Checker) TrackUse(name string, addr, size uint64) {
	at, _ := slices.BinarySearchFunc(c.used, addr, compareUsage)
	c.used = slices.Insert(c.used, at, &usage{name, addr, newMarks(size)})
}

func compareUsage(u *usage, addr uint64) int {
	switch {
	case u.addr < addr:
		return -1
	case u.addr > addr:
		return 1
	}
	return 0
}

// use notes an access.
func (c *Checker) use(_ emu.AccessKind, addr uint64, size int) {
	if c.used == nil {
		return
	}
	at, found := slices.BinarySearchFunc(c.used, addr, compareUsage)
	if !found {
		at--
	}
	if at < 0 || addr-c.used[at].addr >= c.used[at].used.size {
		return
	}
	u := c.used[at]
	u.used.touch(emu.Store, addr-u.addr, size)
}

// Unused reports the buffers of [Checker.TrackUse] that have bytes which no kernel has touched.
func (c *Checker) Unused() []*Finding {
	var list []*Finding
	for _, u := range c.used {
		if n, first := u.used.unmarked(); n > 0 {
			list = append(list, &Finding{Kind: UnusedMemory, Count: 1, Where: fmt.Sprintf("byte %d of %s, which has %d", first, u.name, u.used.size),
				HasAddress: true, Space: "global", Address: u.addr + first, Bytes: int(n), Detail: fmt.Sprintf("%d bytes that no kernel reads or writes", n)})
		}
	}
	return list
}
