package mem

// A tlb is the last level of address translation. A page that takes a place never used costs nothing: the buffers were
// written before the launch and their pages are held as far as the level reaches.
type tlb struct {
	tags
	shift uint
	miss  int64
	last  uint64
}

const tlbWays = 16

func newTLB(cfg *Config) *tlb {
	return &tlb{tags: newTags(cfg.tlbEntries/tlbWays, tlbWays), shift: cfg.tlbPage - lineShift, miss: cfg.tlbMiss, last: Never}
}

// delay returns the cycles by which an access to the line is later because of its translation.
func (t *tlb) delay(line uint64) int64 {
	page := line >> t.shift
	if page == t.last {
		return 0
	}
	t.last = page
	set := t.set(page)
	if _, hit := t.find(page, set); hit {
		return 0
	}
	if _, _, replaced := t.insert(page, set); !replaced {
		return 0
	}
	return t.miss
}
