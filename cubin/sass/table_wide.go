package sass

import "slices"

// wideAccessForms are loads and stores of 256 bits in two runs of registers, of which a mask leaves bytes out. nvdisasm has them
// for sm_89 alone; no compiler for it writes them and nothing executes them.
func wideAccessForms() []Form {
	whole := ModField{Kind: Fixed, names: &enum{text: []string{".256"}}}
	long := ModField{Kind: E, names: &enum{text: []string{".E"}, value: []uint16{1}}}
	second := obscured(81, 2, ".EFL2", ".ENL2", ".ELL2")
	mask := Slot{Name: "mask", Kind: KindImm, Access: Reads, Show: unlessPlain, Default: 0xff}
	ofLoad, ofStore := mask, mask
	ofLoad.Bits, ofLoad.Bits2, ofLoad.Bits3 = Bits{38, 2}, Bits{59, 5}, Bits{72, 1}
	ofStore.Bits, ofStore.Bits2 = Bits{59, 5}, Bits{70, 3}
	condition := predSource("Pp", Bits{87, 3}, 90)
	condition.Show, condition.Inverted = unlessPlain, true
	upper := Slot{Name: "Re", Kind: KindReg, Bits: Bits{64, 8}, Access: Writes, Width: w4, Default: RZ}
	lower, data := regB("B", traits{width: w4}), Slot{Name: "C", Kind: KindReg, Bits: Bits{16, 8}, Access: Reads, Width: w4, Default: RZ}
	load := memory(LDG, 0x97e, []Slot{upper, rd(w4), address(w2), ofLoad, condition}, long, evict(), second, mod(Prefetch, 73, 2, &prefetchNames),
		whole, mod(Order, 79, 2, &loadOrders), scope(), private())
	store := memory(STG, 0x97f, []Slot{address(w2), noReuse(lower), data, ofStore}, long, evict(), second, whole,
		mod(Order, 79, 2, &storeOrders), scope(), private())
	return append(load.on(in89).wide(2), store.on(in89).wide(0)...)
}

// wide returns the rows of f by order and by what its address, operand k, is put together from. Its offset counts 32 bytes.
func (f Form) wide(k int) []Form {
	var forms []Form
	for _, g := range f.withJoinedOrder() {
		d := g
		d.Operands = slices.Clone(g.Operands)
		d.Operands[k] = described(g.Operands[k], g.uregAt())
		d.Mods = append(slices.Clone(g.Mods), on(UR, uniformBit, ""), on(Addr64, 75, ""), on(Descriptor, 76, ""))
		forms = append(forms, d)
		forms = append(forms, g.summands(k, 75, off(Descriptor, 76))...)
	}
	for _, g := range forms {
		g.Operands[k].Bits, g.Operands[k].Format = Bits{40, 19}, sectors
	}
	return forms
}
