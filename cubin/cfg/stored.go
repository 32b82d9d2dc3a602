package cfg

import "gpa/cubin"

// callStored makes a call of the functions whose addresses variables of the file hold.
func (r *callResolver) callStored(i int) Call {
	if r.stored == nil {
		r.stored = &Call{}
		r.readRelocated()
		r.readOffsets()
	}
	return Call{Inst: i, Callees: r.stored.Callees, Remote: r.stored.Remote}
}

// readRelocated notes the functions whose addresses the loader writes into variables.
func (r *callResolver) readRelocated() {
	file, seen := r.places.file, make(map[*cubin.Function]bool)
	for i := range file.Relocs {
		reloc := &file.Relocs[i]
		code, pc := reloc.Target.Code, reloc.Target.Offset+uint64(reloc.Addend)
		if reloc.Code != nil || code == nil || reloc.Section == ".nv.constant4" { // its slots are of calls that name them
			continue
		}
		f := code.FunctionAt(pc)
		if f == nil || f.Offset != pc || f.Kind != cubin.DeviceFunction || seen[f] {
			continue
		}
		seen[f] = true
		if code == r.graph.Code {
			r.stored.Callees = append(r.stored.Callees, r.entry(pc)...)
		} else {
			r.stored.Remote = append(r.stored.Remote, f)
		}
	}
}

// readOffsets notes the functions whose offsets stand in initialized memory. So does the compiler write pointers in a file
// of one code section, without relocations.
func (r *callResolver) readOffsets() {
	if file := r.places.file; len(file.Codes) == 1 && len(r.stored.Callees) == 0 {
		for _, pc := range r.places.functionsIn(file.Global.Init) {
			r.stored.Callees = append(r.stored.Callees, r.entry(pc)...)
		}
	}
}
