package emu

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// tested holds the rows of the instruction table whose results a test has compared with a reference.
var tested sync.Map // of *sass.Form

// TestMain runs the tests and then, with -v, lists the rows that can be executed and that no test compared with a
// reference. It fails if the corpus uses one of them. What tests were not asked to run is not missed.
func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	if status == 0 && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" {
		status = reportForms()
	}
	os.Exit(status)
}

// reportForms prints the rows without a test.
func reportForms() int {
	used, err := corpusForms()
	if err != nil {
		fmt.Println("corpus:", err)
		return 1
	}
	status, without, executable := 0, 0, 0
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		if compilers[f.Op] == nil {
			continue
		}
		executable++
		if _, ok := tested.Load(f); ok {
			continue
		}
		without++
		example, inCorpus := used[f]
		if testing.Verbose() || inCorpus {
			fmt.Printf("no test of %s %#03x%s %s\n", f.Op, f.Opcode, f.Suffix, example)
		}
		if inCorpus {
			status = 1
		}
	}
	if testing.Verbose() || status != 0 {
		fmt.Printf("%d of %d rows that can be executed have no test against a reference\n", without, executable)
	}
	return status
}

// corpusForms returns the rows that the corpus uses, with an instruction of each.
func corpusForms() (map[*sass.Form]string, error) {
	files, err := filepath.Glob("../kernels/*/*/*.sm_70.cubin")
	if err != nil {
		return nil, err
	}
	used := make(map[*sass.Form]string)
	for _, name := range files {
		module, err := cubin.Open(name)
		if err != nil {
			return nil, err
		}
		for _, c := range module.Codes {
			for i := range c.Insts {
				if in := &c.Insts[i]; in.Form != nil && used[in.Form] == "" {
					used[in.Form] = in.Text()
				}
			}
		}
	}
	return used, nil
}

// executeOnce executes one instruction on given registers and predicates, with the words of constant bank 0.
func executeOnce(tb testing.TB, in sass.Inst, regs []lanes, preds [16]uint32, words []byte) (*warp, error) {
	tb.Helper()
	model, err := arch.ByName("v100")
	if err != nil {
		tb.Fatal(err)
	}
	module := &cubin.File{Codes: []*cubin.Code{{Name: "one", Insts: []sass.Inst{in}}}}
	p := compile(module, [32][]byte{words}, model, nil)
	r := &launchRun{program: p, launch: &Launch{Block: [3]int{32, 1, 1}}, machine: &Machine{module: module}, threads: threadIndices([3]int{32, 1, 1})}
	r.launch.Kernel = &cubin.Kernel{}
	r.allow(0)
	w := &warp{scratch: r.domain.scratch, block: &block{run: r, domain: &r.domain}, exists: allLanes, active: allLanes, regs: make([]lanes, max(p.rows(), len(regs))), preds: preds}
	copy(w.regs, regs)
	return w, w.step()
}

// Registers of TestOperandForms: what the sources read, and the one that stands for the operand in question.
const (
	formRegisters  = 40
	formSubstitute = 30
)

// sampleWord makes a random word of a row: destinations and sources in distinct registers, no guard, constants in bank 0.
func sampleWord(f *sass.Form, r *rand.Rand) sass.Word {
	w := sass.Word{Lo: r.Uint64(), Hi: r.Uint64() & (1<<41 - 1)} // control fields zero
	set := func(b sass.Bits, v uint64) {
		for i := range b.N {
			at, bit := b.Lo+i, v>>i&1
			if word := &w.Lo; at < 64 {
				*word = *word&^(1<<at) | bit<<at
			} else {
				w.Hi = w.Hi&^(1<<(at-64)) | bit<<(at-64)
			}
		}
	}
	set(sass.Bits{Lo: 0, N: 12}, uint64(f.Opcode))
	set(sass.Bits{Lo: 12, N: 4}, sass.PT)
	for i := range f.Operands {
		switch s := &f.Operands[i]; s.Kind {
		case sass.KindReg:
			set(s.Bits, uint64(4*i))
		case sass.KindPred:
			if set(s.Bits, uint64(i%7)); r.IntN(2) == 0 {
				set(s.Bits, sass.PT)
			}
		case sass.KindConst:
			set(s.Bank, 0)
			set(s.Bits, 16)
		}
	}
	return w
}

// substitutable reports whether an operand is a value that a register could hold as well.
func substitutable(in *sass.Inst, k int) bool {
	o, s := &in.Operands[k], &in.Form.Operands[k]
	return (o.Kind == sass.KindImm || o.Kind == sass.KindConst) && (s.Name == "B" || s.Name == "C") && in.Op != sass.LDC
}

// wideOperand reports whether an operand has two words.
func wideOperand(in *sass.Inst, o *sass.Operand) bool {
	switch in.Op {
	case sass.DADD, sass.DMUL, sass.DFMA, sass.DSETP:
		return true
	case sass.F2F, sass.F2I, sass.FRND:
		return in.Mod(sass.SrcType) == sass.TypeF64
	}
	return o.Width == 2
}

// TestOperandForms compares rows whose operand is an immediate or a constant with the same instruction on a register that
// holds the value. What instructions compute from registers, other tests compare with references.
func TestOperandForms(t *testing.T) {
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		if compilers[f.Op] == nil || f.Pipe == sass.PipeCBU || f.Pipe == sass.PipeADU {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(i), 77))
		for done, attempts, tries := 0, 0, 0; done < 20 && attempts < 100 && tries < 4000; tries++ {
			in, err := sass.Decode(sass.SM70, 0, sampleWord(f, r))
			if err != nil || in.Form != f {
				continue
			}
			k := slices.IndexFunc(f.Operands, func(s sass.Slot) bool { return s.Name == "B" || s.Name == "C" })
			for k >= 0 && k < len(f.Operands) && !substitutable(&in, k) {
				k++
			}
			if k < 0 || k >= len(f.Operands) {
				break
			}
			if attempts++; compareWithRegister(t, in, k, r) {
				tested.Store(f, true)
				done++
			}
		}
	}
}

// compareWithRegister executes an instruction as it is, and with a register in the place of operand k; false where it
// cannot be executed.
func compareWithRegister(t *testing.T, in sass.Inst, k int, r *rand.Rand) bool {
	t.Helper()
	words := make([]byte, 0x10000)
	for i := range words {
		words[i] = byte(r.Uint32())
	}
	var regs [formRegisters]lanes
	for n := range regs {
		for lane := range 32 {
			regs[n][lane] = interesting(r)
		}
	}
	preds := [16]uint32{sass.PT: allLanes}
	for p := range sass.PT {
		preds[p] = r.Uint32()
	}
	o := &in.Operands[k]
	low, high := uint32(o.Imm), uint32(o.Imm>>32)
	if o.Kind == sass.KindConst {
		at := uint32(o.Offset) & 0xffff
		low, high = load(words[at:at+4]), load(words[at+4:at+8])
	}
	if o.Kind == sass.KindImm && (in.Mod(sass.MufuFn) == sass.MufuRCP64H || in.Mod(sass.MufuFn) == sass.MufuRSQ64H) {
		low = high // the high word of a double is the operand
	}
	regs[formSubstitute], regs[formSubstitute+1] = *broadcast(low), *broadcast(high)
	got, err := executeOnce(t, in, regs[:], preds, words)
	if err != nil {
		return false
	}
	other := in
	other.Operands = slices.Clone(in.Operands)
	register := &other.Operands[k]
	register.Kind, register.Reg, register.Width = sass.KindReg, formSubstitute, 1
	if wideOperand(&in, o) {
		register.Width = 2
	}
	want, err := executeOnce(t, other, regs[:], preds, words)
	if err != nil {
		t.Errorf("%s with a register: %v", in.Text(), err)
		return false
	}
	n := got.block.run.program.registers
	if got.preds != want.preds || !slices.Equal(got.regs[:n], want.regs[:n]) {
		t.Errorf("%s: another result than with a register", strings.TrimSpace(in.Text()))
	}
	return true
}
