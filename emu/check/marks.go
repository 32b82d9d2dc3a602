package check

import "gpa/emu"

// marks say yes or no of each byte of a buffer, no where nothing has been noted. A page of them takes memory when something in it is: buffers
// may be larger than this computer's memory as long as kernels touch little of them.
type marks struct {
	size  uint64
	pages [][]bool // nil where nothing has been noted
}

// markPage is the number of bytes that a page is of.
const markPage = 1 << 18

func newMarks(size uint64) marks { return marks{size, make([][]bool, (size+markPage-1)/markPage)} }

// touch is a read or a write of bytes, those behind the end left out. It reports whether all that a read reads was marked.
func (m *marks) touch(kind emu.AccessKind, from uint64, size int) bool {
	known := true
	for end := min(from+uint64(size), m.size); from < end; {
		page, at := from/markPage, from%markPage
		n := min(end-from, markPage-at)
		from += n
		if m.pages[page] == nil {
			if kind == emu.Load {
				known = false
				continue
			}
			m.pages[page] = make([]bool, min(markPage, m.size-page*markPage))
		}
		known = touch(kind, m.pages[page][at:at+n]) && known
	}
	return known
}

// unmarked returns how many bytes are not marked, and the first of them.
func (m *marks) unmarked() (n, first uint64) {
	found := func(at, count uint64) {
		if n == 0 {
			first = at
		}
		n += count
	}
	for i, page := range m.pages {
		base := uint64(i) * markPage
		if page == nil {
			found(base, min(markPage, m.size-base))
		}
		for k, marked := range page {
			if !marked {
				found(base+uint64(k), 1)
			}
		}
	}
	return n, first
}
