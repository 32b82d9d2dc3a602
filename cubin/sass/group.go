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
