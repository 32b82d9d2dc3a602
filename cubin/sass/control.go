package sass

import (
	"fmt"
	"strings"
)

// Control is the scheduling information in bits 105 to 125 of an instruction word: what the compiler tells the warp
// scheduler about dependences. The hardware checks nothing else (Jia et al. 2018; Huerta et al. 2025, section 3).
//
// Bits 105 to 109 are one code: 1 to 11 cycles without yielding, or 0 to 15 cycles with bit 109 clear, which makes the
// scheduler prefer another warp. NVIDIA's compilers use the second kind to yield and for stall counts from 12 on.
// Dependence counters have the numbers 0 to 5.
type Control struct {
	Stall        uint8 // cycles before the warp may issue its next instruction, 0 to 15
	Yield        bool  // another warp is preferred in the next cycle
	WriteBarrier int8  // dependence counter released when the result is written, -1 for none
	ReadBarrier  int8  // dependence counter released when the operands have been read, -1 for none
	WaitMask     uint8 // bit i: wait until dependence counter i is zero before issuing
	Reuse        uint8 // bit i: operand slot i (A, B, C) is kept in the register-file cache; only without Yield

	// batch is by how much bits 122 to 125 differ from Reuse: with Yield they are another field, whose meaning is unknown.
	batch uint8
}

// Places of the control fields.
var (
	stallAt   = Bits{105, 4}
	noYieldAt = Bits{109, 1}
	writeAt   = Bits{110, 3}
	readAt    = Bits{113, 3}
	waitAt    = Bits{116, 6}
	reuseAt   = Bits{122, 4}

	controlMask = Word{Hi: (1<<(126-105) - 1) << (105 - 64)}
)

// noCounter is the encoding of no dependence counter. Code 6 names none either and is not legal.
const noCounter = 7

// decodeControl returns the control fields of w. It reports false for a stall code that nvdisasm rejects and for a
// dependence counter that does not exist.
func decodeControl(w Word) (Control, bool) {
	c := Control{
		Stall:        uint8(w.bits(stallAt)),
		Yield:        w.bits(noYieldAt) == 0,
		WriteBarrier: counter(w.bits(writeAt)),
		ReadBarrier:  counter(w.bits(readAt)),
		WaitMask:     uint8(w.bits(waitAt)),
		batch:        uint8(w.bits(reuseAt)),
	}
	if !c.Yield {
		c.Reuse, c.batch = c.batch&7, c.batch&8
	}
	return c, c.check() == nil
}

// check reports what the word has no room for.
func (c Control) check() error {
	switch {
	case c.Stall > 15:
		return fmt.Errorf("stall count %d: at most 15", c.Stall)
	case !c.Yield && (c.Stall == 0 || c.Stall > 11):
		return fmt.Errorf("stall count %d without yield: 1 to 11", c.Stall)
	case c.Yield && c.Reuse != 0:
		return fmt.Errorf("operand reuse with yield")
	case c.WriteBarrier >= numScoreboards || c.ReadBarrier >= numScoreboards:
		return fmt.Errorf("dependence counter: 0 to 5")
	case c.Reuse > 7 || c.WaitMask > 0x3f:
		return fmt.Errorf("reuse or wait mask too wide")
	}
	return nil
}

// encode returns w with the control fields.
func (c Control) encode(w Word) (Word, error) {
	if err := c.check(); err != nil {
		return w, err
	}
	noYield := uint64(1)
	if c.Yield {
		noYield = 0
	}
	return w.with(stallAt, uint64(c.Stall)).with(noYieldAt, noYield).
		with(writeAt, counterCode(c.WriteBarrier)).with(readAt, counterCode(c.ReadBarrier)).
		with(waitAt, uint64(c.WaitMask)).with(reuseAt, uint64(c.Reuse^c.batch)), nil
}

func counter(code uint64) int8 {
	if code == noCounter {
		return -1
	}
	return int8(code)
}

func counterCode(n int8) uint64 {
	if n < 0 {
		return noCounter
	}
	return uint64(n)
}

// String returns the notation that assemblers for NVIDIA GPUs share: [B01----:R3:W2:Y:S04] waits for the counters 0 and
// 1, releases counter 3 when the operands are read and counter 2 when the result is written, yields, and stalls for 4
// cycles. A nonzero field whose meaning is unknown follows as :T1. Reuse is part of the instruction's text.
func (c Control) String() string {
	var b strings.Builder
	b.WriteString("[B")
	for i := range 6 {
		b.WriteByte(dash(c.WaitMask>>i&1 != 0, byte('0'+i)))
	}
	fmt.Fprintf(&b, ":R%c:W%c:%c:S%02d", counterChar(c.ReadBarrier), counterChar(c.WriteBarrier), dash(c.Yield, 'Y'), c.Stall)
	if c.batch != 0 {
		fmt.Fprintf(&b, ":T%d", c.batch)
	}
	b.WriteByte(']')
	return b.String()
}

func dash(set bool, c byte) byte {
	if set {
		return c
	}
	return '-'
}

func counterChar(n int8) byte { return dash(n >= 0, byte('0'+n)) }

// ParseControl reads the notation of [Control.String].
func ParseControl(s string) (Control, error) {
	var c Control
	fail := func(what string) (Control, error) {
		return Control{}, fmt.Errorf("control %q: %s", s, what)
	}
	inner, ok := strings.CutPrefix(s, "[B")
	if inner, ok = cutLast(inner, ok); !ok {
		return fail("want [B------:R-:W-:-:S01]")
	}
	f := strings.Split(inner, ":")
	if len(f) < 5 || len(f) > 6 || len(f[0]) != 6 {
		return fail("want five fields, the first of six characters")
	}
	for i := range 6 {
		switch f[0][i] {
		case byte('0' + i):
			c.WaitMask |= 1 << i
		case '-':
		default:
			return fail(fmt.Sprintf("wait mask: want %d or - at place %d", i, i))
		}
	}
	var okR, okW bool
	c.ReadBarrier, okR = parseCounter(f[1], 'R')
	c.WriteBarrier, okW = parseCounter(f[2], 'W')
	if !okR || !okW {
		return fail("want R and W, each with - or a dependence counter from 0 to 5")
	}
	if f[3] != "Y" && f[3] != "-" {
		return fail("want Y or -")
	}
	c.Yield = f[3] == "Y"
	if n, ok := parseDecimal(f[4], 'S', 15); ok {
		c.Stall = n
	} else {
		return fail("stall: want S00 to S15")
	}
	if len(f) == 6 {
		if c.batch, ok = parseDecimal(f[5], 'T', 15); !ok {
			return fail("want T0 to T15")
		}
	}
	if err := c.check(); err != nil {
		return fail(err.Error())
	}
	return c, nil
}

// cutLast removes the closing bracket.
func cutLast(s string, ok bool) (string, bool) {
	inner, closed := strings.CutSuffix(s, "]")
	return inner, ok && closed
}

func parseCounter(s string, letter byte) (int8, bool) {
	if len(s) != 2 || s[0] != letter {
		return 0, false
	}
	if s[1] == '-' {
		return -1, true
	}
	return int8(s[1] - '0'), s[1] >= '0' && s[1] < '0'+numScoreboards
}

// parseDecimal reads a letter and a number of one or two digits.
func parseDecimal(s string, letter byte, most int) (uint8, bool) {
	if len(s) < 2 || len(s) > 3 || s[0] != letter {
		return 0, false
	}
	n := 0
	for _, c := range s[1:] {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return uint8(n), n <= most
}
