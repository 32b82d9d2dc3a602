package emu

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// TestConstantRows compares every row of the loads from constant banks with the definition: the bytes at the register plus the
// offset, which has a sign beside a register and none without, wherever in a bank of 64 KiB they lie.
func TestConstantRows(t *testing.T) {
	words := make([]byte, 0x10000)
	r := rand.New(rand.NewPCG(51, 52))
	for i := range words {
		words[i] = byte(r.Uint32())
	}
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		if f.Op != sass.LDC && f.Op != sass.ULDC {
			continue
		}
		done := 0
		samples(f, r, 200, func(in sass.Inst) bool {
			if refused(in) {
				return true
			}
			tested.Store(f, true)
			done++
			compareConstant(t, in, r, words)
			return done < 40 && !t.Failed()
		})
	}
}

// compareConstant gives a load an offset, leads it to places in the bank, and executes it.
func compareConstant(t *testing.T, in sass.Inst, r *rand.Rand, words []byte) {
	t.Helper()
	c := &in.Operands[1]
	size := memorySizes[in.Mod(sass.Size)]
	n := max(size, -size)
	c.Bank, c.Offset = 0, int32(int16(r.Uint32()))&^int32(n-1)
	indexed := in.Form.Operands[1].Base.N > 0 && r.IntN(4) > 0
	if in.Form.Operands[1].Base.N > 0 {
		if c.Reg = sass.RZ; indexed {
			c.Reg = formAddress
		}
	}
	based := in.Form.Operands[1].URegAt.N > 0
	if based {
		c.UReg = formAddress
	}
	encoded, err := sass.Encode(&in)
	if err != nil {
		t.Fatalf("%s: %v", in.Text(), err)
	}
	if in, err = sass.Decode(in.Arch, 0, encoded); err != nil {
		t.Fatal(err)
	}
	s := randomState(r)
	var at [32]int
	for lane := range at {
		at[lane] = r.IntN(len(words)/n) * n
		switch {
		case indexed:
			s.regs[formAddress][lane] = uint32(at[lane] - int(c.Offset))
		case based:
			at[lane] = at[0]
			s.uniforms[formAddress] = *broadcast(uint32(at[0] - int(c.Offset)))
		default:
			at[lane] = int(uint16(c.Offset))
		}
	}
	got, err := executeOnce(t, in, s, words)
	if err != nil {
		t.Errorf("%s: %v", in.Text(), err)
		return
	}
	for lane := range at {
		var data [16]byte
		copy(data[:], words[at[lane]:][:n])
		if size < 0 && data[n-1] >= 0x80 {
			binary.LittleEndian.PutUint32(data[n:], allLanes)
		}
		for k := range max(n/4, 1) {
			register := &got.regs[min(int(in.Operands[0].Reg)+k, formRegisters-1)]
			if in.Operands[0].Kind == sass.KindUReg {
				register = &got.uniforms[int(in.Operands[0].Reg)+k]
			}
			if want := binary.LittleEndian.Uint32(data[4*k:]); register[lane] != want {
				t.Errorf("sm_%d %s: lane %d has %#x, want %#x at %#x", in.Arch, in.Text(), lane, register[lane], want, at[lane])
				return
			}
		}
	}
}

// A constant has one line in the cache whatever its offset is printed as, and another than that of other banks.
func TestConstantLines(t *testing.T) {
	gpu, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[int64]string)
	for _, bank := range []int{0, 2, 3} {
		for _, offset := range []string{"0x160", "-0x3cb0", "-0x8000"} {
			text := fmt.Sprintf("MOV R1, c[%#x][%s]", bank, offset)
			line := lineOf(t, gpu, text)
			if other, ok := seen[line]; ok {
				t.Errorf("%s and %s have one line", text, other)
			}
			seen[line] = text
		}
	}
	if (&timedRun{constantLine: int64(gpu.Constant.Line.Int())}).constant(3, 0xc350) != lineOf(t, gpu, "MOV R1, c[0x3][-0x3cb0]") {
		t.Error("an operand has another line than a load from its address")
	}
}

// lineOf is the line of the constant operand of an instruction.
func lineOf(t *testing.T, gpu *arch.Model, text string) int64 {
	t.Helper()
	in, err := sass.Parse(sass.SM70, 0, text, sass.Control{Stall: 1})
	if err != nil {
		t.Fatal(err)
	}
	var tm timing
	tm.operands(&in)
	return (&timedRun{constantLine: int64(gpu.Constant.Line.Int())}).constant(tm.immBank, tm.immBytes)
}
