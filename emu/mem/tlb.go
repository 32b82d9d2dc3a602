package mem

// A tlb is a level of address translation.
type tlb struct {
	tags
	shift uint
	miss  int64
	last  uint64
	// cold says that a page costs something where it takes a place never used. In the last level it does not: the buffers were written
	// before the launch, and their pages are held as far as the level reaches.
	cold bool
}

// newLastTLB returns the level of the GPU.
func newLastTLB(cfg *Config) *tlb {
	const ways = 16
	return &tlb{tags: newTags(cfg.tlbEntries/ways, ways), shift: cfg.tlbPage - lineShift, miss: cfg.tlbMiss, last: Never}
}

// newFirstTLBs returns the levels of the SMs. They hold any of the pages that they have place for.
func newFirstTLBs(cfg *Config) []tlb {
	list := make([]tlb, cfg.SMs)
	for i := range list {
		list[i] = tlb{tags: newTags(1, cfg.firstEntries), shift: cfg.tlbPage - lineShift, miss: cfg.firstMiss, last: Never, cold: true}
	}
	return list
}

// forget empties the level.
func (t *tlb) forget() {
	t.clear()
	t.last = Never
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
	if _, _, replaced := t.insert(page, set); !replaced && !t.cold {
		return 0
	}
	return t.miss
}

// translate returns the cycles by which a request is later because of its translation: in its SM, and where that does not hold the
// page, in the GPU.
func (d *Device) translate(r *request) int64 {
	first := d.first[r.sm].delay(r.line)
	if first == 0 && d.cfg.firstMiss > 0 {
		return 0
	}
	return first + d.last.delay(r.line)
}
