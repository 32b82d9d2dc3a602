package emu

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// fastestOps returns the operations that use AVX2 where the processor has it.
func fastestOps() *vectorOps {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA || !cpu.X86.HasBMI1 {
		return portableOps()
	}
	return &vectorOps{
		And: andAVX2, Or: orAVX2, Xor: xorAVX2, ShiftLeft: shiftLeftAVX2, ShiftRight: shiftRightAVX2, ShiftSigned: shiftSignedAVX2,
		MinInt: minIntAVX2, MaxInt: maxIntAVX2, MinUint: minUintAVX2, MaxUint: maxUintAVX2,
		Add3: add3AVX2, Sub3: sub3AVX2, MulAdd: mulAddAVX2, MulWide: mulWideAVX2, MulWideUint: mulWideUintAVX2,
		ShiftAdd: shiftAddAVX2, Funnel: funnelAVX2, AddCarry: addCarryAVX2, Modify: modifyAVX2, Lookup: lookupAVX2, Permute: permuteAVX2,
		Choose: chooseAVX2, Fill: fillAVX2,
		Equal: equalAVX2, LessInt: lessIntAVX2, LessUint: lessUintAVX2,
		LessFloat: lessFloatAVX2, LessEqualFloat: lessEqualFloatAVX2, EqualFloat: equalFloatAVX2,
		AddFloat: addFloatAVX2, MulFloat: mulFloatAVX2, AddFlush: addFlushAVX2, FMA: fmaAVX2, Flush: flushAVX2,
		MulFlush: func(d, a, b *lanes) {
			if !mulFlushAVX2(d, a, b) {
				mulFlushLanes(d, a, b)
			}
		},
		FMAFlush: func(d, a, b, c *lanes) {
			if !fmaFlushAVX2(d, a, b, c) {
				fmaFlushLanes(d, a, b, c)
			}
		},
		MinFloat: func(d, a, b *lanes) {
			if !minFloatAVX2(d, a, b) {
				minFloatLanes(d, a, b)
			}
		},
		MaxFloat: func(d, a, b *lanes) {
			if !maxFloatAVX2(d, a, b) {
				maxFloatLanes(d, a, b)
			}
		},
		Pairs: pairsAVX2, Extended: extendedAVX2, Scaled: scaledAVX2,
		Sequential: sequentialAVX2,
		LoadRow:    func(row *lanes, from []byte) { copyAVX2(unsafe.Pointer(row), unsafe.Pointer((*[128]byte)(from))) },
		StoreRow:   func(to []byte, row *lanes) { copyAVX2(unsafe.Pointer((*[128]byte)(to)), unsafe.Pointer(row)) },
		Within:     withinAVX2,
		Gather: func(rows []lanes, data []byte, base uint64, addr *[32]uint64, mask uint32, words int) {
			gatherAVX2(&rows[:words][0], &data[0], base, addr, mask, uint64(words))
		},
		Scatter: func(data []byte, base uint64, addr *[32]uint64, rows []lanes, mask uint32, words int) {
			scatterAVX2(&data[0], base, addr, &rows[:words][0], mask, uint64(words))
		},
	}
}

//go:noescape
func andAVX2(d, a, b *lanes)

//go:noescape
func orAVX2(d, a, b *lanes)

//go:noescape
func xorAVX2(d, a, b *lanes)

//go:noescape
func shiftLeftAVX2(d, a, b *lanes)

//go:noescape
func shiftRightAVX2(d, a, b *lanes)

//go:noescape
func shiftSignedAVX2(d, a, b *lanes)

//go:noescape
func minIntAVX2(d, a, b *lanes)

//go:noescape
func maxIntAVX2(d, a, b *lanes)

//go:noescape
func minUintAVX2(d, a, b *lanes)

//go:noescape
func maxUintAVX2(d, a, b *lanes)

//go:noescape
func add3AVX2(d, a, b, c *lanes)

//go:noescape
func sub3AVX2(d, a, b, c *lanes)

//go:noescape
func mulAddAVX2(d, a, b, c *lanes)

//go:noescape
func mulWideAVX2(d, e, a, b, low, high *lanes)

//go:noescape
func mulWideUintAVX2(d, e, a, b, low, high *lanes)

//go:noescape
func lookupAVX2(d, a, b, c *lanes, t *truthTable)

//go:noescape
func shiftAddAVX2(d, a, b *lanes, n uint64)

//go:noescape
func funnelAVX2(d, a, b *lanes, n uint64)

//go:noescape
func modifyAVX2(d, a *lanes, and, xor, add uint32)

//go:noescape
func chooseAVX2(d, a, b *lanes, mask uint32)

//go:noescape
func fillAVX2(d *lanes, value, mask uint32)

//go:noescape
func permuteAVX2(d, a, b *lanes, fromA, fromB uint32)

//go:noescape
func equalAVX2(a, b *lanes) uint32

//go:noescape
func lessIntAVX2(a, b *lanes) uint32

//go:noescape
func lessUintAVX2(a, b *lanes) uint32

//go:noescape
func lessFloatAVX2(a, b *lanes) uint32

//go:noescape
func lessEqualFloatAVX2(a, b *lanes) uint32

//go:noescape
func equalFloatAVX2(a, b *lanes) uint32

//go:noescape
func addCarryAVX2(d, a, b *lanes, flipA, flipB, in uint32) uint32

//go:noescape
func flushAVX2(d, a *lanes)

//go:noescape
func addFloatAVX2(d, a, b *lanes)

//go:noescape
func mulFloatAVX2(d, a, b *lanes)

//go:noescape
func fmaAVX2(d, a, b, c *lanes)

//go:noescape
func addFlushAVX2(d, a, b *lanes)

//go:noescape
func mulFlushAVX2(d, a, b *lanes) bool

//go:noescape
func fmaFlushAVX2(d, a, b, c *lanes) bool

//go:noescape
func minFloatAVX2(d, a, b *lanes) bool

//go:noescape
func maxFloatAVX2(d, a, b *lanes) bool

//go:noescape
func pairsAVX2(addr *[32]uint64, low, high *lanes, offset uint64)

//go:noescape
func extendedAVX2(addr *[32]uint64, low *lanes, offset uint64)

//go:noescape
func scaledAVX2(addr *[32]uint64, low *lanes, shift uint64, offset uint32)

//go:noescape
func withinAVX2(addr *[32]uint64, mask uint32, base, limit, low uint64) bool

//go:noescape
func sequentialAVX2(addr *[32]uint64, shift uint64) bool

//go:noescape
func copyAVX2(d, a unsafe.Pointer)

//go:noescape
func gatherAVX2(rows *lanes, data *byte, base uint64, addr *[32]uint64, mask uint32, words uint64)

//go:noescape
func scatterAVX2(data *byte, base uint64, addr *[32]uint64, rows *lanes, mask uint32, words uint64)
