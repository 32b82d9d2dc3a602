package emu

import (
	"bytes"
	"context"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
)

func TestLaunchChecks(t *testing.T) {
	tests := []struct {
		name   string
		change func(l *Launch)
		says   string
	}{
		{"grid 0", func(l *Launch) { l.Grid[1] = 0 }, "grid y is 0, it can be 1 to 65535"},
		{"block 0", func(l *Launch) { l.Block[0] = 0 }, "block x is 0, it can be 1 to 1024"},
		{"block too long", func(l *Launch) { l.Block[0] = 1025 }, "block x is 1025, it can be 1 to 1024"},
		{"block too deep", func(l *Launch) { l.Block[2] = 65 }, "block z is 65, it can be 1 to 64"},
		{"block too large", func(l *Launch) { l.Block = [3]int{64, 32, 1} }, "a block of 2048 threads, it can have 1024"},
		{"launch bounds", func(l *Launch) {
			l.Kernel.MaxThreads = [3]int{128, 1, 1}
			l.Block[0] = 256
		}, "a block of 256 threads, __launch_bounds__ allows [128 1 1]"},
		{"required block", func(l *Launch) { l.Kernel.ReqThreads = [3]int{16, 16, 1} }, "a block of [32 1 1] threads, the kernel is compiled for [16 16 1]"},
		{"shared", func(l *Launch) { l.SharedDynamic = 1 << 20 }, "1048576 bytes of shared memory a block, it can have 98304"},
		{"registers", func(l *Launch) {
			l.Kernel.Registers = 255
			l.Block[0] = 1024
		}, "too many resources requested (1024 threads of 255 registers)"},
		{"parameters", func(l *Launch) { l.Params = l.Params[:4] }, "4 bytes of parameters, it takes 8"},
		{"stack", func(l *Launch) { l.Stack = 1 << 30 }, "1073741824 bytes of local memory a thread"},
		{"cooperative", func(l *Launch) {
			l.Cooperative = true
			l.Grid[0] = 100_000
		}, "a cooperative launch has more blocks than are resident together: 100000, and the GPU holds"},
		{"entry", func(l *Launch) { l.Kernel.Entry = 0x1000 }, "its entry 0x1000 is no instruction"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &timedProgram{text: "EXIT", buffers: [][]uint32{{0}}}
			m, l, _ := p.start(t, testModel(t), Options{})
			tt.change(l)
			r, err := m.Launch(context.Background(), l)
			if err == nil || r != nil || !strings.HasPrefix(err.Error(), "kernel program: ") || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}

func TestMemory(t *testing.T) {
	p := &timedProgram{text: "EXIT"}
	m, _, _ := p.start(t, testModel(t), Options{})
	a, err := m.Alloc("a", 100)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Alloc("b", 0)
	if err != nil || b < a+100+bufferGap {
		t.Fatalf("buffers at %#x and %#x, %v", a, b, err)
	}
	data := []byte{1, 2, 3}
	got := make([]byte, 3)
	if err := m.Write(a+97, data); err != nil {
		t.Error(err)
	}
	if err := m.Read(a+97, got); err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %v, %v", got, err)
	}
	for _, addr := range []uint64{a + 98, a - 1, 0, b, 1<<64 - 1} {
		if m.Write(addr, data) == nil || m.Read(addr, got) == nil {
			t.Errorf("access of 3 bytes at %#x", addr)
		}
	}
	if _, err := m.Alloc("c", 17<<30); err == nil || !strings.Contains(err.Error(), "buffer c: 18253611008 bytes, of which") {
		t.Errorf("17 GiB: %v", err)
	}
	if _, err := m.Alloc("d", -1); err == nil {
		t.Error("a negative size")
	}
}

// A loader puts addresses of variables, functions and system calls where relocations ask for them.
func TestRelocations(t *testing.T) {
	p := &timedProgram{text: `
		MOV R2, 0x0
		MOV R3, 0x0
		LDG.E.SYS R4, [R2]
		LDC.64 R6, c[0x4][RZ]
		LDG.E.SYS R5, [R6]
		LDC.64 R6, c[0x4][0x8]
		LDG.E.SYS R8, [R6]
		MOV R20, 0x0
		MOV R21, 0x0
		CALL.ABS.NOINC 0x0
		IADD3 R8, R8, 0x1, RZ
		EXIT
		IADD3 R8, R4, R5, R8
		RET.ABS.NODEC R20 0x0`}
	f := p.assemble(t)
	code := f.Codes[0]
	at := func(i int) uint64 { return uint64(i * sass.InstSize) }
	f.Global = cubin.Segment{Init: []byte{0, 0, 0, 0, 7, 0, 0, 0}, Size: 64, Align: 8}
	f.Banks = []cubin.Bank{{Number: 3, Data: []byte{0, 0, 0, 0, 100, 0, 0, 0}}, {Number: 4, Data: make([]byte, 16)}}
	f.Variables = []*cubin.Variable{
		{Name: "global", Space: cubin.GlobalSpace, Offset: 4, Size: 4},
		{Name: "constant", Space: cubin.ConstantSpace, Offset: 4, Size: 4},
		{Name: "shared", Space: cubin.SharedSpace},
	}
	global, constant, after := cubin.Target{Global: true, Offset: 4}, cubin.Target{Constant: true, Offset: 4}, cubin.Target{Code: code, Offset: at(10)}
	f.Relocs = []cubin.Reloc{
		{Kind: cubin.Abs32Lo, Code: code, Offset: at(0), Target: global},
		{Kind: cubin.Abs32Hi, Code: code, Offset: at(1), Target: global},
		{Kind: cubin.Abs64, Section: ".nv.constant4", Offset: 0, Target: constant},
		{Kind: cubin.Abs64, Section: ".nv.constant4", Offset: 8, Target: global, Addend: 8},
		{Kind: cubin.Abs32Lo, Code: code, Offset: at(7), Target: after},
		{Kind: cubin.Abs32Hi, Code: code, Offset: at(8), Target: after},
		{Kind: cubin.AbsCall, Code: code, Offset: at(9), Target: cubin.Target{Code: code, Offset: at(12)}},
	}
	m, err := New(testModel(t), f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Symbol("global")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Write(s.Addr+8, []byte{40, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if err := m.WriteConstant("constant", 1, []byte{1}); err != nil {
		t.Fatal(err)
	}
	r, err := m.prepare(p.launch(f, nil))
	if err != nil {
		t.Fatal(err)
	}
	w := r.newBlock(0).warps[0]
	for w.status == warpRunning {
		if err := w.step(); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.regs[8][31]; got != 7+100+256+40+1 {
		t.Errorf("got %d, want 404", got)
	}
	checkSymbols(t, m)
}

func checkSymbols(t *testing.T, m *Machine) {
	t.Helper()
	got := make([]byte, 4)
	if err := m.ReadConstant("constant", 0, got); err != nil || binary.LittleEndian.Uint32(got) != 100+256 {
		t.Errorf("constant: %v, %v", got, err)
	}
	for _, name := range []string{"shared", "nothing"} {
		if _, err := m.Symbol(name); err == nil {
			t.Errorf("%s has an address", name)
		}
	}
	if err := m.WriteConstant("constant", 2, got); err == nil {
		t.Error("written past the end of a constant")
	}
	if err := m.WriteConstant("global", 0, got); err == nil {
		t.Error("a global variable written as a constant")
	}
}

func TestRelocationErrors(t *testing.T) {
	p := &timedProgram{text: "EXIT"}
	for name, r := range map[string]cubin.Reloc{
		"no target":   {Kind: cubin.Abs64, Section: ".nv.constant4", Symbol: "x"},
		"out of data": {Kind: cubin.Abs64, Section: ".nv.constant4", Offset: 4, Symbol: "x", Target: cubin.Target{Global: true}},
	} {
		f := p.assemble(t)
		f.Banks = []cubin.Bank{{Number: 4, Data: make([]byte, 8)}}
		f.Relocs = []cubin.Reloc{r}
		if _, err := New(testModel(t), f, Options{}); err == nil || !strings.Contains(err.Error(), "relocation of x in .nv.constant4") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMissingSystemCall(t *testing.T) {
	p := &timedProgram{text: `
		MOV R20, RZ
		LDC.64 R2, c[0x4][RZ]
		CALL.ABS.NOINC R2
		EXIT`}
	f := p.assemble(t)
	f.Banks = []cubin.Bank{{Number: 4, Data: make([]byte, 8)}}
	f.Relocs = []cubin.Reloc{{Kind: cubin.Abs64, Section: ".nv.constant4", Symbol: "x", Target: cubin.Target{Extern: "cudaGetParameterBufferV2"}}}
	m, err := New(testModel(t), f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Launch(context.Background(), p.launch(f, nil))
	if err == nil || !strings.Contains(err.Error(), "the kernel calls cudaGetParameterBufferV2, which gpa does not provide") {
		t.Error(err)
	}
}

// The same launch gives the same counts.
func TestFunctionalDeterminism(t *testing.T) {
	p := &timedProgram{text: figure1, threads: 32, blocks: 9, buffers: [][]uint32{words(128), make([]uint32, 32)}}
	var first *Result
	for range 2 {
		m, l, _ := p.start(t, testModel(t), Options{})
		r, err := m.Launch(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		} else if !reflect.DeepEqual(first.Counters, r.Counters) {
			t.Errorf("%v\n%v", first.Counters, r.Counters)
		}
	}
}

// Without timing too, warps of a block that begin together have read before the first of them stores: none adds to what another one has made.
func TestFirstReads(t *testing.T) {
	p := &timedProgram{threads: 256, blocks: 2, buffers: [][]uint32{{7, 7}}, text: `
		MOV R5, 0x4
		S2R R4, SR_CTAID.X
		IMAD.WIDE.U32 R2, R4, R5, c[0x0][0x160]
		LDG.E.SYS R0, [R2]
		IADD3 R0, R0, 0x1, RZ
		STG.E.SYS [R2], R0
		EXIT`}
	m, l, addrs := p.start(t, testModel(t), Options{})
	if _, err := m.Launch(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 8)
	if err := m.Read(addrs[0], got); err != nil || load(got) != 8 || load(got[4:]) != 8 {
		t.Errorf("%d, %v", got, err)
	}
}

// Device code that is to be linked yet has no addresses in it: nothing of it runs.
func TestRelocatable(t *testing.T) {
	f, err := cubin.Open("../cubin/testdata/relocatable/rel.sm_80.cubin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(modelOf(sass.SM80), f, Options{}); err == nil || !strings.Contains(err.Error(), "nvcc -dlink") {
		t.Errorf("%v, want an error that says how to link it", err)
	}
}
