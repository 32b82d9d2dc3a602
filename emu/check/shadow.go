package check

import (
	"cmp"
	"fmt"
	"slices"

	"gpa/emu"
)

// A region is global memory that began uninitialised, and which of its bytes have been written.
type region struct {
	name    string
	addr    uint64
	written marks
}

// regions are kept in the order of their addresses.
type regions struct {
	list []*region
	last *region // that an access hit
}

func (g *regions) search(addr uint64) (int, bool) {
	return slices.BinarySearchFunc(g.list, addr, func(r *region, addr uint64) int { return cmp.Compare(r.addr, addr) })
}

// add makes size bytes uninitialised. The heap may give out an address again: then the old region makes room.
func (g *regions) add(name string, addr, size uint64) {
	at, _ := g.search(addr)
	end := at
	for end < len(g.list) && g.list[end].addr < addr+size {
		end++
	}
	g.list = slices.Replace(g.list, at, end, &region{name: name, addr: addr, written: newMarks(size)})
	g.last = nil
}

// remove forgets the region that begins at an address.
func (g *regions) remove(addr uint64) {
	if at, found := g.search(addr); found {
		g.list = slices.Delete(g.list, at, at+1)
		g.last = nil
	}
}

// find returns the region that holds an address, nil where none does.
func (g *regions) find(addr uint64) *region {
	if r := g.last; r != nil && addr-r.addr < r.written.size {
		return r
	}
	at, found := g.search(addr)
	if !found {
		at--
	}
	if at < 0 || addr-g.list[at].addr >= g.list[at].written.size {
		return nil
	}
	g.last = g.list[at]
	return g.last
}

// access notes a write, and reports whether all that a read reads has been written.
func (g *regions) access(kind emu.AccessKind, addr uint64, size int) bool {
	r := g.find(addr)
	if r == nil {
		return true
	}
	return r.written.touch(kind, addr-r.addr, size)
}

// where says which byte of which region an address is.
func (g *regions) where(addr uint64) string {
	r := g.find(addr)
	if r == nil {
		return ""
	}
	return fmt.Sprintf("byte %d of %s, which has %d", addr-r.addr, r.name, r.written.size)
}

// touch is a read or a write of bytes of a shadow.
func touch(kind emu.AccessKind, written []bool) bool {
	known := kind == emu.Store || !slices.Contains(written, false)
	if kind != emu.Load {
		fill(written)
	}
	return known
}

// fill notes that all is written.
func fill(written []bool) {
	for i := range written {
		written[i] = true
	}
}

// A localShadow says of each byte of a warp's local memory which lanes have written theirs.
type localShadow []uint32

// access notes a write, and reports whether a lane reads anything that it has written. Wide accesses of structures with
// padding and of variables that lie next to each other are the compiler's; so a read that touches any written byte is well.
func (l *localShadow) access(kind emu.AccessKind, lane int, addr uint64, size int) bool {
	const most = 1 << 20 // beyond what a thread can have: an access that faulted
	if addr > most {
		return true
	}
	if need := int(addr) + size; need > len(*l) {
		*l = append(*l, make([]uint32, need-len(*l))...)
	}
	known := kind == emu.Store
	for i := range (*l)[addr : int(addr)+size] {
		lanes := &(*l)[int(addr)+i]
		known = known || *lanes>>lane&1 != 0
		if kind != emu.Load {
			*lanes |= 1 << lane
		}
	}
	return known
}
