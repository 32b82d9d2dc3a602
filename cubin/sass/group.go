package sass

// ClosesGroup reports whether a product of a warpgroup is the last of its group: wgmma.commit_group has no instruction of its own.
func (in *Inst) ClosesGroup() bool {
	if in.Op.Properties().Async != AsyncMatrix {
		return false
	}
	group := &in.Operands[len(in.Operands)-1]
	return group.Kind == KindImm && group.Imm == 0
}

// AwaitsGroups returns how many groups of products of the warpgroup may be outstanding behind the instruction; ok is false for one that
// does not wait for them (PTX ISA, wgmma.wait_group).
func (in *Inst) AwaitsGroups() (outstanding int, ok bool) {
	if in.Op.Properties().Sync != SyncGroup || in.Mod(GroupMode) != GroupDEPBAR {
		return 0, false
	}
	return int(in.Operands[1].Imm), true
}

// AwaitsCounter says of DEPBAR for which dependence counter it waits, -1 for none, how many of the instructions that have taken it may be
// outstanding, the last ones, and which other counters, by bit, have to be 0.
func (i *Inst) AwaitsCounter() (counter int8, outstanding int, others uint8) {
	counter = -1
	if i.Op.Properties().Sync != SyncCounter {
		return counter, 0, 0
	}
	for k := range i.Operands {
		switch o := &i.Operands[k]; {
		case o.Kind == KindScoreboard:
			counter = int8(o.Reg)
		case o.Kind == KindImm && k == 1:
			outstanding = int(o.Imm)
		case o.Kind == KindImm && k == 2:
			others = uint8(o.Imm) & 0x3f
		}
	}
	return counter, outstanding, others
}
