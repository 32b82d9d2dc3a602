package emu

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// A memoryTest is a warp of a block that executes one instruction on memory with random contents.
type memoryTest struct {
	in     sass.Inst
	w      *warp
	global *buffer
	r      *rand.Rand
}

const (
	memoryBytes = 4096 // of global and of shared memory
	stackBits   = 9
	stackBytes  = 1 << stackBits // local memory of a thread
)

// newMemoryTest makes registers and memory ready.
func newMemoryTest(t *testing.T, in sass.Inst, r *rand.Rand) *memoryTest {
	t.Helper()
	return newSharedTest(t, in, r, memoryBytes)
}

// newSharedTest is the same with another size of shared memory.
func newSharedTest(t *testing.T, in sass.Inst, r *rand.Rand, sharedBytes int) *memoryTest {
	t.Helper()
	code := &cubin.Code{Name: "one", Insts: []sass.Inst{in}}
	kernel := &cubin.Kernel{Name: "one", Code: code, ParamBase: 0x160}
	m, err := New(modelOf(in.Arch), &cubin.File{Arch: in.Arch, Codes: []*cubin.Code{code}, Kernels: []*cubin.Kernel{kernel}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	global, err := m.memory.alloc("global", memoryBytes)
	if err != nil {
		t.Fatal(err)
	}
	x := &memoryTest{in: in, global: global, r: r}
	run, err := m.prepare(&Launch{Kernel: kernel, Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, SharedDynamic: sharedBytes, Stack: stackBytes})
	if err != nil {
		t.Fatal(err)
	}
	x.w = run.newBlock(0).warps[0]
	for i := range x.w.regs {
		for lane := range 32 {
			x.w.regs[i][lane] = interesting(r)
		}
		if i >= run.program.registers {
			x.w.regs[i] = *broadcast(x.w.regs[i][0])
		}
	}
	for p := range sass.PT {
		x.w.preds[p] = r.Uint32()
	}
	x.w.active = r.Uint32() | 1<<r.IntN(32)
	for _, memory := range [][]byte{x.global.data, x.w.block.shared} {
		for i := range memory {
			memory[i] = byte(r.Uint32())
		}
	}
	for lane := range 32 {
		for at := uint64(0); at < stackBytes; at += 4 {
			binary.LittleEndian.PutUint32(x.w.local.bytes(lane, at, 4), r.Uint32())
		}
	}
	return x
}

// contents is a copy of all that an instruction may change.
func (x *memoryTest) contents() (regs []lanes, preds [16]uint32, memory []byte) {
	regs = slices.Clone(x.w.regs[:x.w.block.run.program.state()])
	memory = slices.Concat(x.global.data, x.w.block.shared)
	for lane := range 32 {
		for at := uint64(0); at < stackBytes; at += 16 {
			memory = append(memory, x.w.local.bytes(lane, at, 16)...)
		}
	}
	return regs, x.w.preds, memory
}

// register returns a register that an instruction names, uniform one where uniform is set.
func (x *memoryTest) register(n uint8, uniform bool) *lanes {
	if uniform {
		return x.w.uniformRegister(int(n))
	}
	return &x.w.regs[n]
}

// A place is where a lane's access goes: the bytes themselves, and their address in the space of the instruction.
type place struct {
	bytes []byte
	addr  uint64
}

// An access is how an instruction names a place: the operand, its space, and the bytes. A generic one may go anywhere.
type testAccess struct {
	operand int
	space   space
	generic bool
	size    int
}

// places chooses where the lanes go, each to a place of its own or four lanes together, and sets the registers of the
// address so. It fails where no registers lead there.
func (x *memoryTest) places(a testAccess) (list [32]place, ok bool) {
	m, slot := &x.in.Operands[a.operand], &x.in.Form.Operands[a.operand]
	offset := uint64(int64(m.Offset))
	based := slot.URegAt.N > 0 && !slot.Descriptor && m.UReg != sass.URZ
	unit := uint64(max(16, a.size))
	rest := offset & (unit - 1) &^ uint64(a.size-1)
	together := 32
	if x.r.IntN(3) == 0 {
		together = 4
	}
	if m.Reg == sass.RZ {
		together = 1
	}
	spaces := []space{a.space}
	if a.generic && !(based && m.Width != 2) { // 32 bits beside a base do not reach all windows
		if spaces = []space{spaceGlobal, spaceShared, spaceLocal}; x.in.Op == sass.ATOM {
			spaces = spaces[:2]
		}
	}
	if m.Reg == sass.RZ && !based { // an address of its own
		ok = a.space != spaceGlobal && offset <= stackBytes-uint64(a.size) && offset%uint64(a.size) == 0
		for lane := 0; ok && lane < len(list); lane++ {
			list[lane] = x.place(a.space, a, lane, offset)
		}
		return list, ok
	}
	order := x.r.Perm(memoryBytes / int(unit))
	for lane := range list {
		list[lane] = x.place(spaces[lane%together%len(spaces)], a, lane, uint64(order[lane%together])*unit+rest)
	}
	return list, x.aim(a, &list, based, offset)
}

// place is the place at an offset of a space.
func (x *memoryTest) place(s space, a testAccess, lane int, at uint64) place {
	window := uint64(0)
	switch s {
	case spaceShared:
		if a.generic {
			window = sharedWindow
		}
		return place{x.w.block.shared[at:][:a.size], at + window}
	case spaceLocal:
		if at %= stackBytes; a.generic {
			window = localWindow
		}
		return place{x.w.local.bytes(lane, at, a.size), at + window}
	}
	return place{x.global.data[at:][:a.size], at + x.global.addr}
}

// aim sets the registers of an address: the register, times its scale, plus a uniform register, plus the offset. Global
// addresses have 64 bits; a register of 32 bits counts without sign then.
func (x *memoryTest) aim(a testAccess, list *[32]place, based bool, offset uint64) bool {
	m := &x.in.Operands[a.operand]
	wide := a.space == spaceGlobal
	var base uint64
	if based {
		switch base = x.r.Uint64() &^ 31; {
		case m.Reg == sass.RZ:
			base = list[0].addr - offset
		case wide && m.Width != 2:
			base = x.global.addr - offset - 64 - x.r.Uint64N(1<<32-2*memoryBytes)
		}
		*x.register(m.UReg, true) = *broadcast(uint32(base))
		if wide {
			*x.register(m.UReg+1, true) = *broadcast(uint32(base >> 32))
		}
	}
	if m.Reg == sass.RZ {
		return based
	}
	if wide && !based && m.Width != 2 {
		return false // no memory below 4 GiB
	}
	scale := map[uint8]uint64{sass.AddrX1: 1, sass.AddrX4: 4, sass.AddrX8: 8, sass.AddrX16: 16}[m.Swz]
	if wide {
		scale = 1
	}
	for lane := range list {
		v := list[lane].addr - base - offset
		if !wide {
			v = uint64(uint32(v))
		}
		if v%scale != 0 {
			return false
		}
		if x.register(m.Reg, false)[lane] = uint32(v / scale); m.Width == 2 {
			x.register(m.Reg+1, false)[lane] = uint32(v / scale >> 32)
		}
	}
	return true
}

// memorySizes are the bytes of an access, negative where a load extends a sign.
var memorySizes = map[uint16]int{sass.SizeU8: 1, sass.SizeS8: -1, sass.SizeU16: 2, sass.SizeS16: -2,
	sass.Size32: 4, sass.Size64: 8, sass.Size128: 16, sass.SizeU128: 16, sass.Size256: 32}

// A reference computes what an instruction does to the registers of its lanes and to memory. It fails where it cannot lead
// the instruction to memory.
type reference func(x *memoryTest) (do func(w *warp), ok bool)

// TestMemoryRows compares every row of the loads, stores, atomics and copies with their definitions: random instructions of the
// row, whose addresses lead to random places.
func TestMemoryRows(t *testing.T) {
	references := map[sass.Op]reference{
		sass.LDG: loadReference(spaceGlobal, false), sass.LD: loadReference(spaceGlobal, true),
		sass.LDS: loadReference(spaceShared, false), sass.LDL: loadReference(spaceLocal, false),
		sass.STG: storeReference(spaceGlobal, false), sass.ST: storeReference(spaceGlobal, true),
		sass.STS: storeReference(spaceShared, false), sass.STL: storeReference(spaceLocal, false),
		sass.ATOMG: atomicReference, sass.ATOM: atomicReference, sass.ATOMS: atomicReference, sass.RED: atomicReference, sass.REDG: atomicReference,
		sass.LDGSTS: copyReference,
	}
	r := rand.New(rand.NewPCG(41, 42))
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		if references[f.Op] == nil {
			continue
		}
		done := 0
		samples(f, r, 200, func(in sass.Inst) bool {
			if compareMemory(t, in, references[f.Op], r) {
				tested.Store(f, true)
				done++
			}
			return done < 10 && !t.Failed()
		})
	}
}

// compareMemory executes an instruction and its reference on equal machines; false where it is refused or leads nowhere.
func compareMemory(t *testing.T, in sass.Inst, reference reference, r *rand.Rand) bool {
	t.Helper()
	if refused(in) {
		return false
	}
	x := newMemoryTest(t, in, r)
	do, ok := reference(x)
	if !ok {
		return false
	}
	regs, preds, memory := x.contents()
	if err := x.w.step(); err != nil {
		t.Errorf("%s: %v", in.Text(), err)
		return false
	}
	gotRegs, gotPreds, gotMemory := x.contents()
	x.restore(regs, preds, memory)
	do(x.w)
	wantRegs, wantPreds, wantMemory := x.contents()
	if !slices.Equal(gotRegs, wantRegs) || gotPreds != wantPreds {
		t.Errorf("sm_%d %s: registers differ", in.Arch, in.Text())
	}
	if !bytes.Equal(gotMemory, wantMemory) {
		t.Errorf("sm_%d %s: memory differs", in.Arch, in.Text())
	}
	return true
}

// restore undoes what an instruction did.
func (x *memoryTest) restore(regs []lanes, preds [16]uint32, memory []byte) {
	copy(x.w.regs, regs)
	x.w.preds = preds
	memory = memory[copy(x.global.data, memory):]
	memory = memory[copy(x.w.block.shared, memory):]
	for lane := range 32 {
		for at := uint64(0); at < stackBytes; at += 16 {
			memory = memory[copy(x.w.local.bytes(lane, at, 16), memory):]
		}
	}
}

// executing calls f for the lanes that execute, the lowest first.
func executing(w *warp, f func(lane int)) {
	for lane := range 32 {
		if w.active>>lane&1 != 0 {
			f(lane)
		}
	}
}

// loadReference: where a predicate behind the address is false, zero is loaded.
func loadReference(s space, generic bool) reference {
	return func(x *memoryTest) (func(w *warp), bool) {
		size := memorySizes[x.in.Mod(sass.Size)]
		n := max(size, -size)
		at := findOperand(&x.in, sass.KindMem)
		list, ok := x.places(testAccess{at, s, generic, n})
		zero := func(lane int) bool {
			p := &x.in.Operands[len(x.in.Operands)-1]
			return p.Kind == sass.KindPred && p.Source && x.w.preds[p.Reg]>>lane&1 == 0 != p.Not
		}
		return func(w *warp) {
			executing(w, func(lane int) {
				var data [32]byte
				if !zero(lane) {
					copy(data[:], list[lane].bytes)
				}
				if size < 0 && data[n-1] >= 0x80 {
					binary.LittleEndian.PutUint32(data[n:], allLanes)
				}
				for k := range max(n/4, 1) {
					if reg := loadedTo(&x.in, at, k); reg >= 0 {
						w.regs[reg][lane] = binary.LittleEndian.Uint32(data[4*k:])
					}
				}
			})
		}, ok
	}
}

// loadedTo returns the register that the k-th word of a load goes to, -1 for none: of 256 bits each half has its registers, in which the
// words that the mask names lie side by side.
func loadedTo(in *sass.Inst, address, k int) int {
	first := int(in.Operands[address-1].Reg)
	if in.Mod(sass.Size) != sass.Size256 {
		return first + k
	}
	mask := in.Operands[address+1].Imm
	if mask>>k&1 == 0 {
		return -1
	}
	if k >= 4 {
		first = int(in.Operands[0].Reg)
	}
	for n := k &^ 3; n < k; n++ {
		first += int(mask >> n & 1)
	}
	return first
}

func storeReference(s space, generic bool) reference {
	return func(x *memoryTest) (func(w *warp), bool) {
		n := max(memorySizes[x.in.Mod(sass.Size)], -memorySizes[x.in.Mod(sass.Size)])
		at := findOperand(&x.in, sass.KindMem)
		list, ok := x.places(testAccess{at, s, generic, n})
		return func(w *warp) {
			executing(w, func(lane int) {
				var data [32]byte
				for k := range max(n/4, 1) {
					half := k / 4 // of 256 bits
					binary.LittleEndian.PutUint32(data[4*k:], w.regs[int(x.in.Operands[at+1+half].Reg)+k%4][lane])
				}
				copy(list[lane].bytes, data[:n])
			})
		}, ok
	}
}

// copyReference is LDGSTS: zeros where the predicate is false (PTX ISA, cp.async with ignore-src), and with .ZFILL behind the
// bytes that the lowest bits of the address leave (with src-size).
func copyReference(x *memoryTest) (func(w *warp), bool) {
	n := memorySizes[x.in.Mod(sass.Size)]
	to, ok1 := x.places(testAccess{0, spaceShared, false, n})
	from, ok2 := x.places(testAccess{1, spaceGlobal, false, n})
	p := &x.in.Operands[2]
	if m := &x.in.Operands[1]; x.in.Mod(sass.ZFill) != 0 && m.Reg != sass.RZ {
		for lane := range from { // so many bytes less of each lane
			skip := x.r.Uint64() % uint64(n)
			low := uint64(x.w.regs[m.Reg][lane]) + skip
			if x.w.regs[m.Reg][lane] = uint32(low); m.Width == 2 {
				x.w.regs[m.Reg+1][lane] += uint32(low >> 32)
			}
			from[lane].bytes = from[lane].bytes[:uint64(n)-skip]
		}
	}
	return func(w *warp) {
		executing(w, func(lane int) {
			if clear(to[lane].bytes); (w.preds[p.Reg]>>lane&1 != 0) != p.Not {
				copy(to[lane].bytes, from[lane].bytes)
			}
		})
	}, ok1 && ok2
}

// atomicReference does what the PTX ISA says of atom and red, lane by lane.
func atomicReference(x *memoryTest) (func(w *warp), bool) {
	in := &x.in
	at := findOperand(in, sass.KindMem)
	typ, op := in.Mod(sass.AtomType), in.Mod(sass.AtomOp)
	n := 4
	switch typ {
	case sass.TypeU64, sass.TypeS64, sass.TypeF64:
		n = 8
	}
	s := spaceGlobal
	if in.Op == sass.ATOMS {
		s = spaceShared
	}
	list, ok := x.places(testAccess{at, s, in.Op == sass.ATOM, n})
	operand := func(w *warp, k, lane int) uint64 {
		if k >= len(in.Operands) || in.Operands[k].Kind != sass.KindReg || in.Operands[k].Reg == sass.RZ {
			return 0
		}
		if n == 8 {
			return pair(w, int(in.Operands[k].Reg), lane)
		}
		return uint64(w.regs[in.Operands[k].Reg][lane])
	}
	return func(w *warp) {
		executing(w, func(lane int) {
			var word [8]byte
			copy(word[:], list[lane].bytes)
			old := binary.LittleEndian.Uint64(word[:])
			result, stored := atomicResult(op, typ, old, operand(w, at+1, lane), operand(w, at+2, lane))
			binary.LittleEndian.PutUint64(word[:], stored)
			copy(list[lane].bytes, word[:n])
			if in.Op == sass.RED || in.Op == sass.REDG {
				return
			}
			if d := &in.Operands[at-1]; d.Kind == sass.KindPred { // whether it swapped
				if d.Reg != sass.PT {
					w.preds[d.Reg] = w.preds[d.Reg]&^(1<<lane) | uint32(result)<<lane
				}
				return
			}
			if d := in.Operands[at-1].Reg; d != sass.RZ {
				if w.regs[d][lane] = uint32(result); n == 8 {
					w.regs[d+1][lane] = uint32(result >> 32)
				}
			}
			if at > 1 && in.Operands[at-2].Reg != sass.PT {
				w.preds[in.Operands[at-2].Reg] |= 1 << lane // it is done
			}
		})
	}, ok
}

// atomicResult returns what an atomic gives back and what it stores.
func atomicResult(op, typ uint16, old, v, swap uint64) (result, stored uint64) {
	signed := func(f func(a, b int64) int64) uint64 {
		if typ == sass.TypeS32 {
			return uint64(uint32(f(int64(int32(old)), int64(int32(v)))))
		}
		return uint64(f(int64(old), int64(v)))
	}
	least, most := min(old, v), max(old, v)
	if typ == sass.TypeS32 || typ == sass.TypeS64 {
		least = signed(func(a, b int64) int64 { return min(a, b) })
		most = signed(func(a, b int64) int64 { return max(a, b) })
	}
	switch op {
	case sass.AtomCAS, sass.AtomCASTSPIN:
		stored, result = old, old
		if old == v {
			stored = swap
		}
		if op == sass.AtomCASTSPIN {
			result = uint64(bit(old == v))
		}
		return result, stored
	case sass.AtomADD:
		return old, atomicSum(typ, old, v)
	case sass.AtomMIN:
		return old, least
	case sass.AtomMAX:
		return old, most
	case sass.AtomINC:
		if old >= v {
			return old, 0
		}
		return old, old + 1
	case sass.AtomDEC:
		if old == 0 || old > v {
			return old, v
		}
		return old, old - 1
	case sass.AtomAND:
		return old, old & v
	case sass.AtomOR:
		return old, old | v
	case sass.AtomXOR:
		return old, old ^ v
	case sass.AtomPOPCINC:
		return old, old + 1
	case sass.AtomARRIVE:
		phase, expected, pending := old>>63, 1<<30-old&(1<<30-1), 1<<31-old>>32&(1<<31-1)
		if pending--; pending == 0 {
			phase, pending = 1-phase, expected
		}
		return old, phase<<63 | (1<<31-pending)&(1<<31-1)<<32 | old&(1<<32-1)
	}
	return old, v // EXCH
}

// atomicSum adds integers, which wrap around, or numbers, by integer arithmetic.
func atomicSum(typ uint16, a, b uint64) uint64 {
	two := func(f *floatFormat) uint64 {
		return f.plus(a>>16&0xffff, b>>16&0xffff, roundRN)<<16 | f.plus(a&0xffff, b&0xffff, roundRN)
	}
	switch f := &formatF32; typ {
	case sass.TypeF32:
		return f.flush(f.plus(f.flush(a), f.flush(b), roundRN))
	case sass.TypeF32RN:
		return f.plus(a, b, roundRN)
	case sass.TypeF64:
		return formatF64.plus(a, b, roundRN)
	case sass.TypeF16x2:
		return two(&formatF16)
	case sass.TypeBF16x2:
		return two(&formatBF16)
	case sass.TypeU32, sass.TypeS32:
		return uint64(uint32(a + b))
	}
	return a + b
}
