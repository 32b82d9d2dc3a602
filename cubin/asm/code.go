package asm

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"gpa/cubin/sass"
)

// A code is a section of instructions that is being assembled.
type code struct {
	name   string
	kernel bool

	params     []param
	paramSize  int
	registers  int // 0: as many as the instructions name
	shared     int
	local      int
	barriers   int // 0: as many as the instructions name
	maxThreads [3]int
	reqThreads [3]int

	items     []item
	labels    map[string]int   // name → index of an instruction
	names     map[string]int64 // of parameters: offset in constant bank 0
	functions []function       // behind the first
	marks     []mark
	relocs    []reloc
}

func newCode(name string, kernel bool) *code {
	return &code{name: name, kernel: kernel, labels: map[string]int{name: 0}, names: make(map[string]int64)}
}

// A param is a kernel parameter.
type param struct {
	name         string
	offset, size int
}

// A function begins at an instruction.
type function struct {
	name string
	inst int
}

// A mark says the source line of the instructions from one on.
type mark struct {
	inst int
	file string
	line int
}

// An item is an instruction, not assembled yet: its names may come later.
type item struct {
	at      position // of text
	text    string
	control string
	word    *sass.Word // of .inst
}

// A reloc is a place in code that a loader puts an address into.
type reloc struct {
	offset uint64
	kind   uint32
	symbol string
	addend int64
}

// label takes in a label of the code.
func (a *assembler) label(s *statement) error {
	c, err := a.inCode(&args{a: a, pos: s.at})
	if err != nil {
		return err
	}
	if reserved(s.name) {
		return a.errorAt(s.at, "%s means something else", s.name)
	}
	return a.addLabel(c, s.name, s.at)
}

func (a *assembler) addLabel(c *code, name string, at position) error {
	if _, ok := c.labels[name]; ok {
		if name == c.name && len(c.items) == 0 {
			return nil // a listing repeats the kernel's name
		}
		return a.errorAt(at, "a second label %s", name)
	}
	c.labels[name] = len(c.items)
	return nil
}

// instruction takes in an instruction with its control code.
func (a *assembler) instruction(s *statement) error {
	c, err := a.inCode(&args{a: a, pos: s.at})
	if err != nil {
		return err
	}
	it := item{at: s.at, text: s.text}
	if strings.HasPrefix(s.text, "[") {
		end := strings.IndexByte(s.text, ']')
		if end < 0 {
			return a.errorAt(s.at, "want a control code as [B------:R-:W-:-:S01]")
		}
		it.control = s.text[:end+1]
		rest := strings.TrimLeft(s.text[end+1:], " \t")
		it.at.column += len(s.text) - len(rest)
		it.text = rest
	}
	it.text = strings.TrimRight(it.text, " \t;")
	if it.text == "" {
		return a.errorAt(it.at, "want an instruction")
	}
	c.items = append(c.items, it)
	return nil
}

// addWord takes in an instruction word as it is: .inst 0xHIGH, 0xLOW.
func addWord(a *assembler, g *args) error {
	c, err := a.inCode(g)
	if err != nil {
		return err
	}
	list, err := g.numbers("the upper and the lower 64 bits of an instruction", 2)
	if err != nil {
		return err
	}
	if len(list) != 2 {
		return g.fail("want the lower 64 bits of the instruction")
	}
	c.items = append(c.items, item{at: g.pos, word: &sass.Word{Hi: uint64(list[0]), Lo: uint64(list[1])}})
	return nil
}

// neutral is the control code that an instruction is parsed with before its own is known.
var neutral = sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1}

// assembleCode makes the instructions of a section.
func (a *assembler) assembleCode(c *code) ([]sass.Inst, error) {
	insts := make([]sass.Inst, len(c.items))
	for i := range c.items {
		pc := uint64(i) * sass.InstSize
		if w := c.items[i].word; w != nil {
			in, err := sass.Decode(a.arch, pc, *w)
			if err != nil {
				in = sass.Undecoded(a.arch, pc, *w)
			}
			insts[i] = in
			continue
		}
		in, err := a.assembleItem(c, &c.items[i], pc)
		if err != nil {
			return nil, err
		}
		insts[i] = in
	}
	return insts, nil
}

// assembleItem makes one instruction.
func (a *assembler) assembleItem(c *code, it *item, pc uint64) (sass.Inst, error) {
	r := resolver{a: a, code: c, item: it, pc: pc}
	text, err := r.resolve()
	if err != nil {
		return sass.Inst{}, err
	}
	control := neutral
	if it.control != "" {
		if control, err = sass.ParseControl(it.control); err != nil {
			return sass.Inst{}, a.errorAt(position{it.at.line, max(1, it.at.column-1-len(it.control))}, "%v", err)
		}
	}
	in, err := sass.Parse(a.arch, pc, text, control)
	if err == nil && it.control == "" {
		if in.Control.Reuse != 0 {
			return sass.Inst{}, a.errorAt(it.at, "want a control code, which .reuse needs")
		}
		in, err = sass.Parse(a.arch, pc, text, safeControl(&in))
	}
	if err != nil {
		return sass.Inst{}, a.wrapSyntax(it.at, r.column, r.unknown(err))
	}
	return in, nil
}

// unknown adds to an error at a name that it stands for nothing.
func (r *resolver) unknown(err error) error {
	var syntax *sass.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	name, _, _ := scanName(r.item.text, min(r.column(syntax.Column-1), len(r.item.text)))
	if name == "" || name[0] >= 'A' && name[0] <= 'Z' && !strings.ContainsFunc(name, unicode.IsLower) { // looks like a register
		return err
	}
	known := *syntax
	known.Want += fmt.Sprintf("; %s is no label, parameter or number", name)
	return &known
}

// safeControl is the control code of an instruction without one. It waits for all dependence counters and then stalls for
// 15 cycles, which no fixed latency exceeds. Of variable latency, an instruction releases counter 0 when its result is
// written and counter 1 when its operands are read. Next to instructions that have control codes this holds as long as
// those wait for these two counters.
func safeControl(in *sass.Inst) sass.Control {
	c := sass.Control{Stall: 15, Yield: true, WriteBarrier: -1, ReadBarrier: -1, WaitMask: 0x3f}
	if !in.Form.Variable {
		return c
	}
	for i := range in.Operands {
		switch o := &in.Operands[i]; {
		case o.Dest && o.Kind != sass.KindNone:
			c.WriteBarrier = 0
		case in.Form.Pipe == sass.PipeLSU || in.Form.Pipe == sass.PipeTEX:
			if o.Kind == sass.KindReg || o.Kind == sass.KindMem {
				c.ReadBarrier = 1
			}
		}
	}
	return c
}

// A resolver replaces the names in an instruction by numbers.
type resolver struct {
	a     *assembler
	code  *code
	item  *item
	pc    uint64
	out   []byte
	edits []edit
}

// An edit says that column at of the new text stands where column from of the old one does.
type edit struct{ at, from int }

// column returns the column of the old text that one of the new text comes from, both counted from 0.
func (r *resolver) column(at int) int {
	last := edit{}
	for _, e := range r.edits {
		if e.at > at {
			break
		}
		last = e
	}
	return last.from + at - last.at
}

// resolve returns the text without names.
func (r *resolver) resolve() (string, error) {
	text := r.item.text
	at := mnemonicEnd(text)
	r.out = append(r.out, text[:at]...)
	for at < len(text) {
		n, err := r.token(text, at)
		if err != nil {
			return "", err
		}
		at += n
	}
	return string(r.out), nil
}

// mnemonicEnd returns where the guard and the mnemonic end.
func mnemonicEnd(text string) int {
	at := 0
	if strings.HasPrefix(text, "@") {
		at = strings.IndexAny(text, " \t")
		if at < 0 {
			return len(text)
		}
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t"))
	}
	if end := strings.IndexAny(text[at:], " \t"); end >= 0 {
		return at + end
	}
	return len(text)
}

// put replaces the old text up to end.
func (r *resolver) put(text string, end int) {
	r.out = append(r.out, text...)
	r.edits = append(r.edits, edit{len(r.out), end})
}

// halves are the notations of halves of an address.
var halves = [...]struct {
	prefix string
	kind   uint32
}{{"32@lo(", relAbs32Lo}, {"32@hi(", relAbs32Hi}}

// token takes in what comes next and returns its length in the text.
func (r *resolver) token(text string, at int) (int, error) {
	for _, h := range halves {
		if strings.HasPrefix(text[at:], h.prefix) {
			return r.half(text, at, len(h.prefix), h.kind)
		}
	}
	quoted := strings.HasPrefix(text[at:], "`(")
	from := at
	if quoted {
		from += 2
	}
	name, end, _ := scanName(text, from)
	switch {
	case name == "" && quoted:
		return 0, r.fail(from, "want a name")
	case name == "" && at+1 < len(text) && '0' <= text[at] && text[at] <= '9':
		for end < len(text) && (nameByte(text[end], false)) { // a number may have letters
			end++
		}
		r.out = append(r.out, text[at:end]...)
		return end - at, nil
	case name == "":
		r.out = append(r.out, text[at])
		return 1, nil
	}
	stop := end
	if quoted {
		if stop = end + 1; !strings.HasPrefix(text[end:], ")") {
			return 0, r.fail(end, "want )")
		}
	}
	value, ok := r.value(name)
	if !ok {
		if quoted || r.global(name) {
			return r.far(name, at, stop)
		}
		r.out = append(r.out, text[at:stop]...)
		return stop - at, nil
	}
	if value, stop, ok = r.sum(text, stop, value); !ok {
		return 0, r.fail(stop, "want a number or a name")
	}
	r.put(hexText(value), stop)
	return stop - at, nil
}

func hexText(v int64) string {
	if v < 0 {
		return fmt.Sprintf("-0x%x", uint64(-v))
	}
	return fmt.Sprintf("0x%x", v)
}

func (r *resolver) fail(at int, want string) error {
	return r.a.errorAt(position{r.item.at.line, r.item.at.column + at}, "%s", want)
}

// value returns what a name stands for: an offset of code, of a parameter, or a number.
func (r *resolver) value(name string) (int64, bool) {
	if i, ok := r.code.labels[name]; ok {
		return int64(i) * sass.InstSize, true
	}
	if v, ok := r.code.names[name]; ok {
		return v, true
	}
	v, ok := r.a.values[name]
	return v, ok
}

// sum adds the numbers that follow a name, as in label+0x10.
func (r *resolver) sum(text string, at int, value int64) (int64, int, bool) {
	for at < len(text) && (text[at] == '+' || text[at] == '-') {
		end := at + 1
		for end < len(text) && nameByte(text[end], false) {
			end++
		}
		word := text[at+1 : end]
		if reserved(word) {
			return value, at, true // a register
		}
		v, ok := r.value(word)
		if !ok {
			n, err := parseInt(word)
			if err != nil {
				return 0, at + 1, false
			}
			v = n
		}
		if text[at] == '-' {
			v = -v
		}
		value += v
		at = end
	}
	return value, at, true
}

// global reports whether a name is one of the module.
func (r *resolver) global(name string) bool { return r.a.symbols[name] }

// half takes in 32@lo(symbol+addend) or 32@hi(…): half of an address, which a loader fills in.
func (r *resolver) half(text string, at, prefix int, kind uint32) (int, error) {
	name, end, err := scanName(text, at+prefix)
	if err != nil || name == "" {
		return 0, r.fail(at+prefix, "want a name")
	}
	addend, end, ok := r.sum(text, end, 0)
	if !ok || !strings.HasPrefix(text[end:], ")") {
		return 0, r.fail(end, "want )")
	}
	if i, local := r.code.labels[name]; local {
		name, addend = r.code.name, addend+int64(i)*sass.InstSize
	}
	r.code.relocs = append(r.code.relocs, reloc{r.pc, kind, name, addend})
	r.put("0x0", end+1)
	return end + 1 - at, nil
}

// far takes in the name of a function of another section, or of the system, as the target of a CALL.ABS.
func (r *resolver) far(name string, at, stop int) (int, error) {
	mnemonic := r.item.text[:mnemonicEnd(r.item.text)]
	if !strings.Contains(mnemonic, "CALL.ABS") && !strings.Contains(mnemonic, "JMP") {
		return 0, r.fail(at, fmt.Sprintf("no label %s in %s; a function elsewhere is called by CALL.ABS", name, r.code.name))
	}
	r.code.relocs = append(r.code.relocs, reloc{r.pc, relAbsCall(r.a.arch), name, 0})
	r.put("0x0", stop)
	return stop - at, nil
}
