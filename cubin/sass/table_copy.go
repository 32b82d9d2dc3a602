package sass

import "slices"

// matrixMoveForms move 8 by 8 matrices of halves between shared memory and the registers of a warp (PTX ldmatrix, stmatrix).
func matrixMoveForms() []Form {
	load := memory(LDSM, 0x83b, []Slot{rd(wSize), address(w1)}, mod(Matrix, 78, 2, &matrixNames), mod(Size, 72, 2, &countNames))
	load.Suffix = ".16"
	store := memory(STSM, 0x844, []Slot{address(w1), noReuse(regB("B", traits{width: wSize}))},
		mod(Matrix, 78, 1, &enum{text: matrixNames.text[:2]}), mod(Size, 72, 2, &countNames))
	store.Suffix = ".16"
	return []Form{load.on(from75), store.on(in90)}
}

// copyForms copy from global to shared memory without registers in between (PTX cp.async). The addresses have offsets of 20
// and of 12 bits.
func copyForms() []Form {
	shared := Slot{Name: "shared address", Kind: KindMem, Base: Bits{16, 8}, Bits: Bits{44, 20}, Access: Reads, Default: RZ, sign: signAlways}
	global := Slot{Name: "global address", Kind: KindMem, Base: Bits{24, 8}, Bits: Bits{32, 12}, Access: Reads, Default: RZ, sign: signAlways}
	uniform := Bits{64, 6}
	wide := func(name string, w widthRule, ureg Bits) Slot {
		s := global
		s.Width, s.URegAt = w, ureg
		s.Sel = &ModField{names: &enum{text: []string{name}}}
		return s
	}
	far, summed := described(global, uniform), shared
	far.Width, summed.URegAt = w2, uniform
	row := func(opcode uint16, to, from Slot, flags ...ModField) []Form {
		f := memory(LDGSTS, opcode, []Slot{to, from, cond()},
			ModField{Kind: E, names: &enum{text: []string{".E"}, value: []uint16{1}}},
			mod(Bypass, 81, 1, &enum{text: []string{".BYPASS", ""}, value: []uint16{1, 0}}), evict(),
			mod(Prefetch, 71, 2, &prefetchNames), mod(Size, 73, 3, &copySizes), flag(ZFill, 82, ".ZFILL"))
		var forms []Form
		for _, order := range []ModField{mod(Order, 77, 4, &copyOrders), mod(Obscure, 77, 4, &rareCopyOrders)} {
			g := f.on(from80)
			g.Mods = slices.Concat(f.Mods, []ModField{order, on(UR, 91, "")}, flags)
			forms = append(forms, g)
		}
		return forms
	}
	var forms []Form
	forms = append(forms, row(0xfae, shared, far, on(Descriptor, 76, ""), on(Addr64, 70, ""))...)
	forms = append(forms, row(0xfae, shared, wide(".64", w2, uniform), off(Descriptor, 76), on(Addr64, 70, ""))...)
	forms = append(forms, row(0xfae, shared, wide(".U32", w1, uniform), off(Descriptor, 76), off(Addr64, 70))...)
	following := far
	following.next = 1
	forms = append(forms, row(0xdae, summed, following, on(Descriptor, 76, ""), on(Addr64, 70, ""))...)
	return append(forms, row(0xdae, summed, wide(".64", w2, Bits{}), off(Descriptor, 76), on(Addr64, 70, ""))...)
}

// copyOrders are the codes of order and scope of LDGSTS, rareCopyOrders those that compilers do not write.
var (
	copyOrders     = enum{text: []string{"", bad, bad, bad, ".CONSTANT"}, value: []uint16{OrderWeak, 0, 0, 0, OrderConstant}}
	rareCopyOrders = enum{text: []string{bad, ".CONSTANT.PRIVATE", ".CONSTANT.CTA", ".CONSTANT.CTA.PRIVATE", bad, ".MMIO.CTA",
		".GPU.PRIVATE", ".MMIO.CTA.PRIVATE", ".MMIO.SM", ".CONSTANT.SM", ".MMIO.VC", ".CONSTANT.SM.PRIVATE", ".MMIO.GPU",
		".CONSTANT.VC", ".CONSTANT.VC.PRIVATE", ".CONSTANT.GPU"}}
)

// copySizes are the sizes of LDGSTS.
var copySizes = enum{text: []string{bad, bad, bad, bad, "", ".64", ".128"}, value: []uint16{0, 0, 0, 0, Size32, Size64, Size128}}
