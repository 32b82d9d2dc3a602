package check

import (
	"gpa/cubin/sass"
	"gpa/emu"
)

// mbarrier notes an access to a transaction barrier, which orders what threads did before they arrived with what others do after
// they have seen the phase complete (PTX ISA, mbarrier.arrive releases and mbarrier.test_wait acquires). It reports whether the
// access is one: an arrival, a query of the phase, or a load of a word that threads arrive at, as sm_80 queries it.
func (b *block) mbarrier(s *emu.Step, kind emu.AccessKind, space emu.Space, addr uint64) bool {
	at := word{space, addr &^ 7}
	transfers := s.Inst.Op.Properties().Sync == sass.SyncTransfer
	switch {
	case space != emu.Shared:
		return false
	case kind == emu.Atomic && (transfers || s.Inst.Op == sass.ATOMS && s.Inst.Mod(sass.AtomOp) == sass.AtomARRIVE):
		w := &b.warps[s.Warp]
		w.fence(s.Warp)
		b.atomic(s.Warp, space, at.addr)
		w.fence(s.Warp)
		b.phases[at] = true
	case kind == emu.Load && (transfers || b.phases[at]):
		if told := b.told[at]; told != nil {
			b.warps[s.Warp].now.join(told)
		}
	default:
		return false
	}
	return true
}
