package sass

import "slices"

// wideAccessForms are loads and stores of 256 bits in two runs of registers, of which a mask leaves words out. nvdisasm has them
// for sm_89, though no compiler for it writes them and nothing executes them; sm_100 and later have them with the mask elsewhere
// (blackwellWideForms).
func wideAccessForms() []Form {
	return wideForms(in89, obscured(81, 2, secondPriorities.text...), wideFields{
		load:  Slot{Bits: Bits{38, 2}, Bits2: Bits{59, 5}, Bits3: Bits{72, 1}},
		store: Slot{Bits: Bits{59, 5}, Bits2: Bits{70, 3}},
		far:   Bits{40, 19},
	})
}

// blackwellWideForms are those of sm_100 and later. A load puts the words of each half that the mask names side by side into the half's
// registers. Stores have no mask in PTX.
func blackwellWideForms() []Form {
	forms := wideForms(inBlackwell, mod(EvictL2, 81, 2, &secondPriorities), wideFields{
		load:  Slot{Bits: Bits{57, 7}, Bits2: Bits{72, 1}},
		store: opaque(Slot{Bits: Bits{59, 5}, Bits2: Bits{88, 3}}),
		far:   Bits{40, 17},
	})
	ordered := rareOrders
	ordered.text = slices.Clone(rareOrders.text)
	copy(ordered.text[13:], []string{".SYS.ORDERED", ".STRONG.SYS.ORDERED", ".MMIO.SYS.ORDERED"})
	ordered.text[4] = ".STRONG.SM.PRIVATE"
	for k := range forms {
		if f := &forms[k]; f.Op == STG {
			*f = f.replaced(Obscure, mod(Obscure, 77, 4, &ordered))
		}
	}
	return forms
}

// secondPriorities are the eviction priorities of the L2 cache: first, normal, last.
var secondPriorities = enum{text: []string{".EFL2", ".ENL2", ".ELL2"}}

// wideFields are where an architecture has the mask of a load and that of a store, and the offset of a load's address.
type wideFields struct {
	load, store Slot
	far         Bits
}

// wideForms are the rows of both.
func wideForms(archs ArchSet, second ModField, at wideFields) []Form {
	whole := ModField{Kind: Size, names: &enum{text: []string{".256"}, value: []uint16{Size256}}}
	long := ModField{Kind: E, names: &enum{text: []string{".E"}, value: []uint16{1}}}
	mask := func(s Slot) Slot {
		s.Name, s.Kind, s.Access, s.Show, s.Default = "mask", KindImm, Reads, unlessPlain, 0xff
		return s
	}
	condition := predSource("Pp", Bits{87, 3}, 90)
	condition.Show, condition.Inverted = unlessPlain, true
	half := func(name string, lo uint8, w widthRule, a Access) Slot {
		return Slot{Name: name, Kind: KindReg, Bits: Bits{lo, 8}, Access: a, Width: w, Default: RZ}
	}
	load := memory(LDG, 0x97e, []Slot{half("Re", 64, wUpper, Writes), half("Rd", 16, wLower, Writes), address(w2), mask(at.load), condition}, long, evict(), second,
		mod(Prefetch, 73, 2, &prefetchNames), whole, mod(Order, 79, 2, &loadOrders), scope(), private())
	store := memory(STG, 0x97f, []Slot{address(w2), half("B", 32, w4, Reads), half("C", 16, w4, Reads), mask(at.store)}, long, evict(), second, whole,
		mod(Order, 79, 2, &storeOrders), scope(), private())
	return append(load.as(archs).wide(2, at.far), store.as(archs).wide(0, Bits{40, 19})...)
}

// wide returns the rows of f by order and by what its address, operand k, is put together from. Its offset counts 32 bytes.
func (f Form) wide(k int, offset Bits) []Form {
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
		g.Operands[k].Bits, g.Operands[k].Format = offset, sectors
	}
	return forms
}
