package emu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"gpa/cubin/sass"
)

// A systemCall is a function that the device runtime provides. Arguments and results are in registers from R4 on, the
// return address is in R20 and R21.
type systemCall struct {
	name string
	run  func(w *warp, o *op, lane int) error
}

// systemCalls are the functions, in the order of their addresses.
var systemCalls = [...]systemCall{
	{"vprintf", callPrintf},
	{"malloc", callMalloc},
	{"free", callFree},
	{"__assertfail", callAssertFail},
}

// Registers of the device ABI.
const (
	abiResult = 4
	abiReturn = 20
)

// systemCall does a system call for each of the lanes, the lowest first, and lets them go on at their return addresses.
func (w *warp) systemCall(o *op, lanes uint32, address uint64) error {
	if lanes == 0 {
		return nil
	}
	number := (address - syscallBase) / sass.InstSize
	if number >= uint64(len(systemCalls)) {
		return w.fault(o, bits.TrailingZeros32(lanes), BadSystemCall, "the kernel calls a function that gpa does not provide")
	}
	if len(w.regs) <= abiReturn+1 {
		return w.fault(o, bits.TrailingZeros32(lanes), BadSystemCall, "the caller does not follow the calling convention")
	}
	w.block.run.changes++
	var targets [32]int32
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		if err := systemCalls[number].run(w, o, i); err != nil {
			return err
		}
		back := w.argument64(abiReturn, i)
		var ok bool
		if targets[i], ok = w.block.run.program.index(o.code, back, true); !ok {
			return w.fault(o, i, BadJump, fmt.Sprintf("return address %#x of a system call", back))
		}
	}
	w.state.Indirect(lanes, &targets, o.index+1)
	w.group()
	return nil
}

func (w *warp) argument64(r, lane int) uint64 {
	return uint64(w.regs[r+1][lane])<<32 | uint64(w.regs[r][lane])
}

// memoryAt returns size bytes at a generic address of a lane.
func (w *warp) memoryAt(o *op, lane int, addr uint64, size int) ([]byte, error) {
	saved := w.acc
	defer func() { w.acc = saved }()
	w.acc.addr[lane] = addr
	return w.generic(o, lane, size)
}

// maxString bounds the strings that the runtime reads.
const maxString = 1 << 16

// stringAt reads a string that ends with a zero.
func (w *warp) stringAt(o *op, lane int, addr uint64) (string, error) {
	var b strings.Builder
	for addr != 0 && b.Len() < maxString {
		c, err := w.memoryAt(o, lane, addr, 1)
		if err != nil {
			return "", err
		}
		if c[0] == 0 {
			break
		}
		b.WriteByte(c[0])
		addr++
	}
	return b.String(), nil
}

// callPrintf is vprintf(format, arguments); it returns the number of arguments.
func callPrintf(w *warp, o *op, lane int) error {
	format, err := w.stringAt(o, lane, w.argument64(abiResult, lane))
	if err != nil {
		return err
	}
	p := printer{w: w, o: o, lane: lane, next: w.argument64(abiResult+2, lane)}
	text, err := p.format(format)
	if err != nil {
		return err
	}
	w.regs[abiResult][lane] = uint32(p.arguments)
	if _, err := w.block.run.machine.options.Stdout.Write([]byte(text)); err != nil {
		return fmt.Errorf("device-side printf: %w", err)
	}
	return nil
}

// A printer formats as C does, from a buffer of arguments laid out as C lays out structures.
type printer struct {
	w         *warp
	o         *op
	lane      int
	next      uint64
	arguments int
}

func (p *printer) format(format string) (string, error) {
	var out strings.Builder
	for len(format) > 0 {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			break
		}
		out.WriteString(format[:at])
		verb, rest := splitVerb(format[at:])
		text, err := p.verb(verb)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		format = rest
	}
	out.WriteString(format)
	return out.String(), nil
}

// splitVerb cuts a conversion, from its % to its letter, off a format.
func splitVerb(format string) (verb, rest string) {
	end := 1 + len(format[1:]) - len(strings.TrimLeft(format[1:], "-+ #0123456789.*hlLqjzt"))
	if end == len(format) {
		return format, ""
	}
	return format[:end+1], format[end+1:]
}

// verb formats one conversion.
func (p *printer) verb(verb string) (string, error) {
	letter := verb[len(verb)-1]
	if verb == "%%" {
		return "%", nil
	}
	flags, err := p.stars(strings.TrimRight(verb[:len(verb)-1], "hlLqjzt"))
	if err != nil {
		return "", err
	}
	long := strings.ContainsAny(verb, "lqjzt")
	switch letter {
	case 'd', 'i', 'u', 'x', 'X', 'o', 'c':
		return p.integer(flags, letter, long)
	case 'p':
		v, err := p.word(8)
		return fmt.Sprintf("%#x", v), err
	case 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A':
		v, err := p.word(8)
		return formatFloat(flags, letter, math.Float64frombits(v)), err
	case 's':
		v, err := p.word(8)
		if err != nil {
			return "", err
		}
		s, err := p.w.stringAt(p.o, p.lane, v)
		return fmt.Sprintf(flags+"s", s), err
	}
	return verb, nil
}

// stars replaces widths and precisions that are arguments.
func (p *printer) stars(flags string) (string, error) {
	for strings.Contains(flags, "*") {
		v, err := p.word(4)
		if err != nil {
			return "", err
		}
		flags = strings.Replace(flags, "*", fmt.Sprint(int32(v)), 1)
	}
	return flags, nil
}

func (p *printer) integer(flags string, letter byte, long bool) (string, error) {
	size := 4
	if long {
		size = 8
	}
	v, err := p.word(size)
	switch letter {
	case 'd', 'i':
		s := int64(v)
		if !long {
			s = int64(int32(v))
		}
		return fmt.Sprintf(flags+"d", s), err
	case 'u':
		letter = 'd'
	case 'c':
		return fmt.Sprintf(flags+"s", string([]byte{byte(v)})), err
	}
	return fmt.Sprintf(flags+string(letter), v), err
}

// formatFloat prints like C: Go's %g differs in the exponent's digits at most, infinities and NaN in case.
func formatFloat(flags string, letter byte, v float64) string {
	switch {
	case math.IsInf(v, 0) || math.IsNaN(v):
		text := strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+"))
		width, _, _ := strings.Cut(strings.ReplaceAll(flags, "0", ""), ".")
		return fmt.Sprintf(width+"s", text)
	case letter == 'a' || letter == 'A':
		letter += 'x' - 'a'
	case (letter == 'g' || letter == 'G') && !strings.Contains(flags, "."):
		flags += ".6"
	}
	return fmt.Sprintf(flags+string(letter), v)
}

// word reads the next argument.
func (p *printer) word(size int) (uint64, error) {
	p.arguments++
	p.next = (p.next + uint64(size) - 1) &^ uint64(size-1)
	var b [8]byte
	for k := 0; k < size; k += 4 {
		part, err := p.w.memoryAt(p.o, p.lane, p.next+uint64(k), 4)
		if err != nil {
			return 0, err
		}
		copy(b[k:], part)
	}
	p.next += uint64(size)
	return binary.LittleEndian.Uint64(b[:]), nil
}

// callMalloc is malloc(size); it returns null where the heap is full.
func callMalloc(w *warp, _ *op, lane int) error {
	addr := w.block.run.machine.heap.alloc(w.argument64(abiResult, lane))
	w.regs[abiResult][lane], w.regs[abiResult+1][lane] = uint32(addr), uint32(addr>>32)
	return nil
}

func callFree(w *warp, o *op, lane int) error {
	addr := w.argument64(abiResult, lane)
	if !w.block.run.machine.heap.free(addr) {
		return w.addressFault(o, lane, BadSystemCall, addr, "free of what malloc did not return")
	}
	return nil
}

// callAssertFail is __assertfail(message, file, line, function).
func callAssertFail(w *warp, o *op, lane int) error {
	text := make([]string, 3)
	for k, r := range []int{4, 6, 10} {
		var err error
		if text[k], err = w.stringAt(o, lane, w.argument64(r, lane)); err != nil {
			return err
		}
	}
	return w.fault(o, lane, AssertionFailed, fmt.Sprintf("%s:%d: %s: %s", text[1], w.regs[8][lane], text[2], text[0]))
}

// A heap is the memory that device-side malloc takes from. Every allocation is a buffer of its own, so that running
// past its end faults.
type heap struct {
	machine *Machine
	size    int64
	used    int64
	next    uint64
	count   int
}

func (h *heap) alloc(size uint64) uint64 {
	size = (size + 15) &^ 15
	if size == 0 || size > uint64(h.size-h.used) {
		return 0
	}
	if h.next == 0 {
		h.next = heapBase
	}
	h.count++
	b := &buffer{name: fmt.Sprintf("heap allocation %d", h.count), addr: h.next, data: make([]byte, size)}
	h.next += size + bufferAlign
	h.used += int64(size)
	h.machine.memory.insert(b)
	return b.addr
}

// free gives an allocation back; null is nothing to do.
func (h *heap) free(addr uint64) bool {
	if addr == 0 {
		return true
	}
	b := h.machine.memory.find(addr)
	if b == nil || b.addr != addr || addr < heapBase {
		return false
	}
	h.used -= int64(len(b.data))
	h.machine.memory.remove(b)
	return true
}
