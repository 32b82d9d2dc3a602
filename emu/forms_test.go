package emu

import (
	"cmp"
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
)

// tested holds the rows of the instruction table whose results a test has compared with a reference.
var tested sync.Map // of *sass.Form

// TestMain runs the tests and then fails with a list of the rows, of all architectures, that can be executed and that no test
// compared with a reference. What tests were not asked to run is not missed.
func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	if status == 0 && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" {
		status = reportForms()
	}
	os.Exit(status)
}

// reportForms prints the rows without a test, with an instruction of each: one of the corpus if it has any.
func reportForms() (status int) {
	used, err := corpusForms()
	if err != nil {
		fmt.Println("corpus:", err)
		return 1
	}
	without, executable, later := 0, 0, 0
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		_, ok := tested.Load(f)
		if !ok && !canExecute(f) {
			continue
		}
		if executable++; ok {
			continue
		}
		if firstArch(f) > architectures[len(architectures)-1] { // those of sm_100 and later without a test are only counted
			later++
			continue
		}
		without++
		status = 1
		corpus := "not in the corpus"
		if used[f] != "" {
			corpus = "in the corpus"
		}
		fmt.Printf("no test of %s %#03x%s of sm_%d, %s: %s\n", f.Op, f.Opcode, f.Suffix, firstArch(f), corpus, cmp.Or(used[f], sampleText(f)))
	}
	if testing.Verbose() || status != 0 {
		fmt.Printf("%d of %d rows that can be executed have no test against a reference, and %d of sm_100 and later\n", without, executable, later)
	}
	return status
}

// firstArch is the oldest architecture that has a row.
func firstArch(f *sass.Form) sass.Arch {
	for _, a := range sass.Archs() {
		if f.Archs.Has(a) {
			return a
		}
	}
	return 0
}

// samples calls visit with instructions of a row, up to n, until it returns false.
func samples(f *sass.Form, r *rand.Rand, n int, visit func(in sass.Inst) bool) {
	a := firstArch(f)
	var last sass.Word
	for tries := 0; n > 0 && tries < 20000; tries++ {
		w := sass.Word{Lo: r.Uint64(), Hi: r.Uint64()}
		if last != (sass.Word{}) { // most words are no instructions: change a few bits of one that is
			mask := sass.Word{Lo: r.Uint64() & r.Uint64(), Hi: r.Uint64() & r.Uint64()}
			w = sass.Word{Lo: last.Lo&^mask.Lo | w.Lo&mask.Lo, Hi: last.Hi&^mask.Hi | w.Hi&mask.Hi}
		}
		w = arrange(f, w, r)
		in, err := sass.Decode(a, 0, w)
		if err != nil || in.Form != f {
			continue
		}
		last = w
		if n--; !visit(in) {
			return
		}
	}
}

// sampleText is an instruction of a row.
func sampleText(f *sass.Form) (text string) {
	samples(f, rand.New(rand.NewPCG(1, 3)), 1, func(in sass.Inst) bool {
		text = in.Text()
		return false
	})
	return text
}

// canExecute reports whether there is an instruction of the row that the emulator does not refuse.
func canExecute(f *sass.Form) (can bool) {
	if compilers[f.Op] == nil {
		return false
	}
	samples(f, rand.New(rand.NewPCG(1, 2)), 100, func(in sass.Inst) bool {
		can = !refused(in)
		return !can
	})
	return can
}

// refused reports whether the emulator does not execute an instruction.
func refused(in sass.Inst) bool {
	p := &program{bases: []int32{0, 1}, ops: make([]op, 2)}
	for i := range p.banks {
		p.banks[i] = zeroBank
	}
	return in.Opaque() || compilers[in.Op](p, &op{inst: &in}) != nil
}

// zeroBank is a constant bank that has every offset.
var zeroBank = make([]byte, 0x10000)

// corpusForms returns the rows that the corpus uses, with an instruction of each.
func corpusForms() (map[*sass.Form]string, error) {
	files, err := filepath.Glob("../kernels/*/*/*.cubin.gz")
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
				if in := &c.Insts[i]; in.Known() && used[in.Form] == "" {
					used[in.Form] = in.Text()
				}
			}
		}
	}
	return used, nil
}

// A state is what instructions work on: registers, uniform registers and predicates.
type state struct {
	regs     [formRegisters]lanes
	uniforms [sass.URZ]lanes
	preds    [16]uint32
}

// randomState has numbers of all kinds in it.
func randomState(r *rand.Rand) *state {
	s := &state{preds: [16]uint32{sass.PT: allLanes}}
	for n := range s.regs {
		for lane := range 32 {
			s.regs[n][lane] = interesting(r)
		}
	}
	for n := range s.uniforms {
		s.uniforms[n] = *broadcast(interesting(r))
	}
	for p := range sass.PT {
		s.preds[p] = r.Uint32()
		s.preds[uniformPredicate(uint8(p))] = -(r.Uint32() & 1)
	}
	return s
}

// executeOnce executes one instruction in a state, with the words of constant bank 0.
func executeOnce(tb testing.TB, in sass.Inst, before *state, words []byte) (*state, error) {
	tb.Helper()
	module := &cubin.File{Arch: in.Arch, Codes: []*cubin.Code{{Name: "one", Insts: []sass.Inst{in}}}}
	p := compile(module, [32][]byte{words}, modelOf(in.Arch), nil)
	r := &launchRun{program: p, launch: &Launch{Block: [3]int{32, 1, 1}}, machine: &Machine{module: module}, threads: threadIndices([3]int{32, 1, 1})}
	r.launch.Kernel = &cubin.Kernel{}
	r.allow(0)
	w := &warp{scratch: r.domain.scratch, block: &block{run: r, domain: &r.domain}, exists: allLanes, active: allLanes, regs: make([]lanes, p.rows()), preds: before.preds}
	after := *before
	copy(w.regs[:p.registers], before.regs[:])
	copy(w.regs[p.registers:p.state()], before.uniforms[:])
	if err := w.step(); err != nil {
		return nil, err
	}
	copy(after.regs[:], w.regs[:p.registers])
	copy(after.uniforms[:], w.regs[p.registers:p.state()])
	after.preds = w.preds
	return &after, nil
}

// Registers of TestOperandForms: the first ones are what an instruction works on, and this one and the next stand for the
// operand in question.
const (
	formRegisters  = 40
	formSubstitute = 30
	formAddress    = 36 // of an address, in registers and in uniform ones; a second address has those behind
)

// arrange makes a word one of a row: destinations and sources in distinct registers, no guard, constants in bank 0.
func arrange(f *sass.Form, w sass.Word, r *rand.Rand) sass.Word {
	w.Hi &= 1<<41 - 1 // control fields zero
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
	addresses := 0
	for i := range f.Operands {
		switch s := &f.Operands[i]; s.Kind {
		case sass.KindReg, sass.KindUReg:
			set(s.Bits, uint64(4*i))
		case sass.KindPred, sass.KindUPred:
			if set(s.Bits, uint64(i%7)); r.IntN(2) == 0 {
				set(s.Bits, sass.PT)
			}
		case sass.KindConst:
			set(s.Bank, 0)
			set(s.Bits, 16)
		case sass.KindMem:
			at := formAddress + 2*uint64(addresses)
			if set(s.Base, at); r.IntN(4) == 0 {
				set(s.Base, sass.RZ)
				if r.IntN(2) == 0 { // an address that there is
					set(sass.Bits{Lo: s.Bits.Lo + stackBits, N: s.Bits.N - min(s.Bits.N, stackBits)}, 0)
				}
			}
			set(s.URegAt, at)
			addresses++
		}
	}
	return w
}

// substitutable reports whether an operand is a value that a register could hold as well.
func substitutable(in *sass.Inst, k int) bool {
	o, s := &in.Operands[k], &in.Form.Operands[k]
	switch o.Kind {
	case sass.KindImm, sass.KindConst:
	case sass.KindUReg:
		if in.Form.Pipe == sass.PipeUniform {
			return false
		}
	default:
		return false
	}
	return (o.Kind == sass.KindConst || s.Name == "B" || s.Name == "C") && in.Op != sass.LDC && in.Op != sass.ULDC
}

// wideOperand reports whether an operand has two words.
func wideOperand(in *sass.Inst, o *sass.Operand) bool {
	switch in.Op {
	case sass.DADD, sass.DMUL, sass.DFMA, sass.DSETP:
		return true
	case sass.IADD, sass.UIADD3, sass.MOV, sass.UMOV, sass.SEL, sass.USEL, sass.ISETP, sass.UISETP:
		return in.Mod(sass.Size) == sass.Size64
	case sass.F2F, sass.F2I, sass.FRND:
		return in.Mod(sass.SrcType) == sass.TypeF64
	}
	return o.Width == 2 || in.Op.Properties().Pairs
}

// TestOperandForms compares rows whose operand is an immediate, a constant or a uniform register with the same
// instruction on a register that holds the value. What instructions compute from registers, other tests compare with
// references.
func TestOperandForms(t *testing.T) {
	words := make([]byte, 0x10000)
	r := rand.New(rand.NewPCG(78, 77))
	for i := range words {
		words[i] = byte(r.Uint32())
	}
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		if compilers[f.Op] == nil || f.Pipe == sass.PipeCBU || f.Pipe == sass.PipeADU || f.Pipe == sass.PipeLSU || firstSubstitutable(f) < 0 {
			continue
		}
		done := 0
		samples(f, r, 300, func(in sass.Inst) bool {
			k := firstSubstitutable(f)
			for k < len(f.Operands) && !substitutable(&in, k) {
				k++
			}
			if k < len(f.Operands) && compareWithRegister(t, in, k, r, words) {
				tested.Store(f, true)
				done++
			}
			return done < 20
		})
	}
}

// firstSubstitutable returns the first operand of a row that an instruction may have in a register instead.
func firstSubstitutable(f *sass.Form) int {
	return slices.IndexFunc(f.Operands, func(s sass.Slot) bool {
		return s.Kind == sass.KindConst || (s.Name == "B" || s.Name == "C") && (s.Kind == sass.KindImm || s.Kind == sass.KindUReg)
	})
}

// compareWithRegister executes an instruction as it is, and with a register in the place of operand k; false where it
// cannot be executed.
func compareWithRegister(t *testing.T, in sass.Inst, k int, r *rand.Rand, words []byte) bool {
	t.Helper()
	if refused(in) { // before a state is drawn, which takes longer
		return false
	}
	s := randomState(r)
	o := &in.Operands[k]
	low, high := uint32(o.Imm), uint32(o.Imm>>32)
	switch o.Kind {
	case sass.KindConst:
		at := uint32(o.Offset) & 0xffff
		low, high = load(words[at:at+4]), load(words[at+4:at+8])
	case sass.KindUReg:
		low, high = s.uniforms[o.Reg][0], s.uniforms[o.Reg+1][0]
	}
	if o.Kind == sass.KindImm && in.Op.Properties().Pairs {
		high = low // an immediate is both numbers
	}
	if o.Kind == sass.KindImm && (in.Mod(sass.MufuFn) == sass.MufuRCP64H || in.Mod(sass.MufuFn) == sass.MufuRSQ64H) {
		low = high // the high word of a double is the operand
	}
	s.regs[formSubstitute], s.regs[formSubstitute+1] = *broadcast(low), *broadcast(high)
	s.uniforms[formSubstitute], s.uniforms[formSubstitute+1] = *broadcast(low), *broadcast(high)
	got, err := executeOnce(t, in, s, words)
	if err != nil {
		return false
	}
	other := in
	other.Operands = slices.Clone(in.Operands)
	register := &other.Operands[k]
	register.Kind, register.Reg, register.Width = sass.KindReg, formSubstitute, 1
	if in.Form.Pipe == sass.PipeUniform {
		register.Kind = sass.KindUReg
	}
	if wideOperand(&in, o) {
		register.Width = 2
	}
	want, err := executeOnce(t, other, s, words)
	if err != nil {
		t.Errorf("%s with a register: %v", in.Text(), err)
		return false
	}
	if *got != *want {
		t.Errorf("%s: another result than with a register", strings.TrimSpace(in.Text()))
	}
	return true
}
