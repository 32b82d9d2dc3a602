package emu

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// each runs a body in one block of 32 threads and compares R9 of each with what it should be. The buffer of 64 words
// that c[0x0][0x168] points to holds words.
func each(t *testing.T, body string, words []uint32, want func(thread uint32) uint32) {
	t.Helper()
	eachOn(t, nil, body, words, want)
}

// eachOn is each on a GPU.
func eachOn(t *testing.T, model *arch.Model, body string, words []uint32, want func(thread uint32) uint32) {
	t.Helper()
	p := &timedProgram{model: model, text: "MOV R10, 0x4\nS2R R0, SR_TID.X\nMOV R2, c[0x0][0x168]\nMOV R3, c[0x0][0x16c]\n" + body + storeR9,
		shared: 1024, buffers: [][]uint32{make([]uint32, 32), append(words, make([]uint32, 64-len(words))...)}}
	for thread, got := range p.result(t, 0) {
		if w := want(uint32(thread)); got != w {
			t.Fatalf("thread %d: got %#x, want %#x", thread, got, w)
		}
	}
}

// Loads extend what is narrower than a register; windows of the generic address space lead to the same memory.
func TestLoads(t *testing.T) {
	spaces := []struct{ name, address, load, store string }{
		{"global", ``, "LDG.E%s.SYS", "STG.E%s.SYS"},
		{"generic", ``, "LD.E%s.SYS", "ST.E%s.SYS"},
		{"shared", `
			LOP3.LUT R2, RZ, RZ, RZ, 0xc0, !PT`, "LDS.U%s", "STS%s"},
		{"shared through its window", `
			MOV R2, c[0x0][0x18]
			MOV R3, c[0x0][0x1c]`, "LD.E%s.SYS", "ST.E%s.SYS"},
		{"local", `
			MOV R2, c[0x0][0x28]
			IADD3 R2, R2, -0x20, RZ`, "LDL%s", "STL%s"},
		{"local through its window", `
			MOV R2, c[0x0][0x28]
			IADD3 R2, P0, R2, c[0x0][0x20], RZ
			IADD3.X R3, RZ, c[0x0][0x24], RZ, P0, !PT
			IADD3 R2, P0, R2, -0x20, RZ
			IADD3.X R3, R3, -0x1, RZ, P0, !PT`, "LD.E%s.SYS", "ST.E%s.SYS"},
	}
	loads := []struct {
		size string
		body string // after R4 to R7 are stored at the address
		want uint32
	}{
		{"", "LOAD R9, [R2+0x4]", 0x85868788},
		{".U8", "LOAD R9, [R2+0x7]", 0x85},
		{".S8", "LOAD R9, [R2+0x7]", 0xffffff85},
		{".U16", "LOAD R9, [R2+0x6]", 0x8586},
		{".S16", "LOAD R9, [R2+0x6]", 0xffff8586},
		{".64", "LOAD R12, [R2+0x8]\nIADD3 R9, R12, R13, RZ", 0x1d1c1b1a},
		{".128", "LOAD R12, [R2]\nIADD3 R9, R13, R15, RZ", 0x93939395},
	}
	for _, space := range spaces {
		for _, l := range loads {
			t.Run(space.name+l.size, func(t *testing.T) {
				load := fmt.Sprintf(space.load, l.size)
				if strings.HasPrefix(load, "LDS.U") && l.size != "" {
					load = "LDS" + l.size
				}
				body := space.address + `
					MOV R4, 0x1020304
					MOV R5, 0x85868788
					MOV R6, 0xf0f0f0d
					MOV R7, 0xe0d0c0d
					` + fmt.Sprintf(space.store, ".128") + " [R2], R4\n" + strings.ReplaceAll(l.body, "LOAD", load)
				each(t, body, nil, func(uint32) uint32 { return l.want })
			})
		}
	}
}

// Stores write as many bytes as they say.
func TestStores(t *testing.T) {
	tests := []struct {
		store string
		want  uint32
	}{
		{"STG.E.U8.SYS [R2+0x1], R4", 0xffff44ff},
		{"STG.E.U16.SYS [R2+0x2], R4", 0x3344ffff},
		{"STG.E.SYS [R2], R4", 0x11223344},
		{"STG.E.64.SYS [R2], RZ", 0},
	}
	for _, tt := range tests {
		t.Run(tt.store, func(t *testing.T) {
			each(t, "MOV R4, 0x11223344\n"+tt.store+"\nLDG.E.SYS R9, [R2]", []uint32{math.MaxUint32, math.MaxUint32},
				func(uint32) uint32 { return tt.want })
		})
	}
}

// Local memory is each thread's own.
func TestLocalMemoryIsPrivate(t *testing.T) {
	each(t, `
		MOV R1, c[0x0][0x28]
		STL [R1+-0x40], R0
		STL.U8 [R1+-0x3f], RZ
		LDL R9, [R1+-0x40]`, nil, func(thread uint32) uint32 { return thread })
}

func TestIndexedConstant(t *testing.T) {
	each(t, `
		LOP3.LUT R4, R0, 0x1, RZ, 0xc0, !PT
		SHF.L.U32 R4, R4, 0x2, RZ
		LDC R9, c[0x0][R4+0x0]`, nil, func(thread uint32) uint32 { return []uint32{32, 1}[thread%2] })
}

func TestAddressSpaceQuery(t *testing.T) {
	each(t, `
		MOV R4, c[0x0][0x18]
		MOV R5, c[0x0][0x1c]
		MOV R6, c[0x0][0x20]
		MOV R7, c[0x0][0x24]
		QSPC.E.S P0, RZ, [R4+0x10]
		QSPC.E.G P1, RZ, [R4]
		QSPC.E.L P2, RZ, [R6]
		QSPC.E.G P3, RZ, [R2]
		MOV R9, RZ
		@P0 IADD3 R9, R9, 0x1, RZ
		@P1 IADD3 R9, R9, 0x2, RZ
		@P2 IADD3 R9, R9, 0x4, RZ
		@P3 IADD3 R9, R9, 0x8, RZ`, nil, func(uint32) uint32 { return 1 + 4 + 8 })
}

// Atomics of all operations and types by the rules of atom in the PTX ISA, on one word in one lane.
func TestAtomics(t *testing.T) {
	f32 := math.Float32bits
	tests := []struct {
		op          string
		old, v, now uint64
		wide        bool
	}{
		{"ADD", 0xffffffff, 2, 1, false},
		{"MIN", 0x80000000, 5, 5, false},
		{"MIN.S32", 0x80000000, 5, 0x80000000, false},
		{"MAX", 0x80000000, 5, 0x80000000, false},
		{"MAX.S32", 0x80000000, 5, 5, false},
		{"INC", 7, 7, 0, false},
		{"INC", 6, 7, 7, false},
		{"DEC", 0, 7, 7, false},
		{"DEC", 9, 7, 7, false},
		{"DEC", 7, 7, 6, false},
		{"AND", 0xff00, 0x0ff0, 0x0f00, false},
		{"OR", 0xff00, 0x0ff0, 0xfff0, false},
		{"XOR", 0xff00, 0x0ff0, 0xf0f0, false},
		{"EXCH", 1, 2, 2, false},
		{"ADD.F32.FTZ.RN", uint64(f32(1.5)), uint64(f32(2.25)), uint64(f32(3.75)), false},
		{"ADD.F32.FTZ.RN", 1, 1, 0, false}, // denormals are flushed
		{"ADD.F16x2.RN", 0x3c004000, 0x3c003c00, 0x40004200, false},
		{"ADD.64", 0xffffffff, 1, 0x100000000, true},
		{"MIN.64", 1 << 63, 5, 5, true},
		{"MIN.S64", 1 << 63, 5, 1 << 63, true},
		{"MAX.64", 1 << 63, 5, 1 << 63, true},
		{"MAX.S64", 1 << 63, 5, 5, true},
		{"AND.64", 0xff00000000ff, 0xf0000000000f, 0xf0000000000f, true},
		{"OR.64", 1 << 40, 1, 1<<40 | 1, true},
		{"XOR.64", 1<<40 | 1, 1, 1 << 40, true},
		{"EXCH.64", 1 << 40, 1 << 50, 1 << 50, true},
		{"ADD.F64.RN", math.Float64bits(1.5), math.Float64bits(2.25), math.Float64bits(3.75), true},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %#x", tt.op, tt.old), func(t *testing.T) {
			p := &timedProgram{text: fmt.Sprintf(`
				MOV R2, c[0x0][0x160]
				MOV R3, c[0x0][0x164]
				LDG.E.64.SYS R4, [R2+0x8]
				S2R R0, SR_TID.X
				ISETP.EQ.AND P0, PT, R0, 0x9, PT
				@P0 ATOMG.E.%s.STRONG.GPU PT, R6, [R2], R4
				@P0 STG.E.64.SYS [R2+0x10], R6
				EXIT`, tt.op), buffers: [][]uint32{{uint32(tt.old), uint32(tt.old >> 32), uint32(tt.v), uint32(tt.v >> 32), 0, 0}}}
			got := p.result(t, 0)
			now, before := uint64(got[0])|uint64(got[1])<<32, uint64(got[4])
			if tt.wide {
				before |= uint64(got[5]) << 32
			}
			if now != tt.now || before != tt.old {
				t.Errorf("stores %#x and returns %#x, want %#x and %#x", now, before, tt.now, tt.old)
			}
		})
	}
}

func TestCompareAndSwap(t *testing.T) {
	tests := []struct {
		name, text string
		want       func(thread uint32) uint32
	}{
		// Lanes take turns, the lowest first: each finds what the one before it stored.
		{"ATOMG.CAS", `
			IADD3 R5, R0, 0x1, RZ
			MOV R4, R0
			ATOMG.E.CAS.STRONG.GPU PT, R9, [R2], R4, R5`, func(thread uint32) uint32 { return thread }},
		{"ATOMG.CAS.64", `
			MOV R4, RZ
			MOV R5, RZ
			IADD3 R6, R0, 0x1, RZ
			MOV R7, 0x1
			ATOMG.E.CAS.64.STRONG.GPU PT, R8, [R2], R4, R6
			MOV R9, R8`, func(thread uint32) uint32 { return min(thread, 1) }},
		{"ATOM.CAS of shared memory", `
			MOV R2, c[0x0][0x18]
			MOV R3, c[0x0][0x1c]
			STS [RZ], RZ
			IADD3 R5, R0, 0x1, RZ
			MOV R4, R0
			ATOM.E.CAS.STRONG.GPU PT, R9, [R2], R4, R5`, func(thread uint32) uint32 { return thread }},
		{"ATOMS.CAST.SPIN", `
			STS [RZ], RZ
			MOV R4, RZ
			MOV R5, 0x8
			ATOMS.CAST.SPIN R9, [RZ], R4, R5`, func(thread uint32) uint32 { return 1 - min(thread, 1) }},
		{"ATOMS.ADD", `
			STS [RZ], RZ
			ATOMS.ADD R9, [RZ], R10`, func(thread uint32) uint32 { return 4 * thread }},
		{"ATOM.ADD says that it is done", `
			MOV R4, 0x1
			ATOM.E.ADD.STRONG.GPU P0, R5, [R2], R4
			SEL R9, R5, 0x64, P0`, func(thread uint32) uint32 { return thread }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { each(t, tt.text, nil, tt.want) })
	}
}

// An address in shared memory may be a multiple of its register.
func TestScaledAddress(t *testing.T) {
	turing, err := arch.ByName("t4")
	if err != nil {
		t.Fatal(err)
	}
	for scale, bytes := range map[string]uint32{".X4": 4, ".X8": 8, ".X16": 16} {
		t.Run(scale, func(t *testing.T) {
			eachOn(t, turing, fmt.Sprintf(`
				SHF.L.U32 R5, R0, 0x4, RZ
				STS [R5+0x10], R0
				LOP3.LUT R6, R0, 0x3, RZ, 0xc0, !PT
				IMAD R6, R6, %#x, RZ
				LDS.U R9, [R6%s+0x10]`, 16/bytes, scale), nil, func(thread uint32) uint32 { return thread % 4 })
		})
	}
}

// A predicate behind the address: what it is false for reads nothing, not even at a bad address, and gets zero.
func TestLoadOrZero(t *testing.T) {
	words := make([]uint32, 64)
	for i := range words {
		words[i] = uint32(i) + 100
	}
	for _, c := range []struct {
		size string
		want uint32 // where the predicate is true
	}{{"", 104}, {".64", 104 + 105}, {".128", 104 + 105 + 106 + 107}, {".U8", 104}} {
		eachOn(t, modelOf(sass.SM75), `
			MOV R12, 0x7
			MOV R13, 0x7
			MOV R14, 0x7
			MOV R15, 0x7
			ISETP.LT.AND P1, PT, R0, 0xb, PT
			SEL R2, R2, RZ, P1
			LDG.E`+c.size+`.SYS R12, [R2+0x10], P1
			IADD3 R9, R12, R13, R14
			IADD3 R9, R9, R15, RZ`, words, func(thread uint32) uint32 {
			rest := map[string]uint32{"": 21, ".U8": 21, ".64": 14}[c.size] // registers that the load leaves alone
			if thread < 0xb {
				return c.want + rest
			}
			return rest
		})
	}
}
