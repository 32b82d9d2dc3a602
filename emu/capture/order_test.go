package capture

import (
	"context"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/asm"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/launch"
)

// ordered adds 1/(i+1) of each thread i to a sum, and stores i where a counter says; doubled is as wide as the sum, and the same in any order.
const ordered = `.arch sm_70
.kernel k
.param sum, 8
.param slots, 8
.param doubled, 8
	S2R R0, SR_CTAID.X
	S2R R1, SR_TID.X
	IMAD R0, R0, 0x20, R1
	IADD3 R1, R0, 0x1, RZ
	I2F R1, R1
	MUFU.RCP R1, R1
	MOV R2, c[0x0][sum]
	MOV R3, c[0x0][sum+0x4]
	RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2], R1
	MOV R4, c[0x0][slots]
	MOV R5, c[0x0][slots+0x4]
	MOV R6, 0x1
	ATOMG.E.ADD.STRONG.GPU PT, R6, [R4], R6
	IADD3 R6, R6, 0x1, RZ
	MOV R8, 0x4
	IMAD.WIDE.U32 R4, R6, R8, R4
	STG.E.SYS [R4], R0
	IMAD.WIDE.U32 R2, R0, R8, c[0x0][doubled]
	IADD3 R0, R0, R0, RZ
	STG.E.SYS [R2], R0
	EXIT
`

// A capture expects of sums what they are within the rounding of another order, nothing of what a counter has given out, and of the rest every bit.
func TestOrder(t *testing.T) {
	const blocks, threads = 64, 32
	raw, err := asm.Assemble("k.sass", []byte(ordered))
	if err != nil {
		t.Fatal(err)
	}
	module, err := cubin.NewFile("k.cubin", raw)
	if err != nil {
		t.Fatal(err)
	}
	model, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	m, err := emu.New(model, module, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var params []byte
	for _, words := range []int64{1, blocks*threads + 1, blocks * threads} {
		addr, err := m.Alloc("buffer", 4*words)
		if err != nil {
			t.Fatal(err)
		}
		params = binary.LittleEndian.AppendUint64(params, addr)
	}
	l := &emu.Launch{Kernel: module.Kernels[0], Grid: [3]int{blocks, 1, 1}, Block: [3]int{threads, 1, 1}, Params: params}
	taking := &Taking{GPU: model, Machine: m, Launch: l, Size: func(addr uint64) uint64 {
		at := slices.IndexFunc([]int{0, 8, 16}, func(i int) bool { return binary.LittleEndian.Uint64(params[i:]) == addr })
		return []uint64{4, 4 * (blocks*threads + 1), 4 * blocks * threads, 0}[(at+4)%4]
	}}
	if err := taking.Begin(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Launch(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	c, err := taking.Replay(nil, Check(context.Background(), emu.Options{}, nil))
	if err != nil {
		t.Fatal(err)
	}
	unexpected, err := c.Loosen(context.Background(), emu.Options{})
	if err != nil || !reflect.DeepEqual(unexpected, []string{"arg1_1"}) {
		t.Errorf("not expected: %q, %v", unexpected, err)
	}
	if len(c.File.Expect) != 2 || c.File.Expect[0].Atol <= 0 || c.File.Expect[0].Atol > 1e-3 || c.File.Expect[1].Atol != 0 || !strings.Contains(string(c.Text), `"arg0_0": {type: f32, shape: [1]`) {
		t.Errorf("%+v\n%s", c.File.Expect, c.Text)
	}
	for name := range c.Files() {
		if !strings.Contains(string(c.Text), name) {
			t.Errorf("nothing names %s", name)
		}
	}
	// With timing the threads come in another order.
	machine, err := emu.New(model, module, emu.Options{Timing: emu.TimingFull})
	if err != nil {
		t.Fatal(err)
	}
	s, err := launch.NewSession(context.Background(), c.File, machine)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Run(context.Background(), 0, nil)
	if ok, err := Same(s, err, nil); !ok || err != nil {
		t.Errorf("%t, %v", ok, err)
	}
}
