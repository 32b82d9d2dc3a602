package sass

import (
	"errors"
	"fmt"
	"strings"
)

// A SyntaxError says where a line of assembly stops making sense.
type SyntaxError struct {
	Text   string
	Column int    // of the first character that does not fit, counted from 1
	Want   string // what was expected there

	certain bool // the row fits but for this
}

// Error names the column, what was expected and the text.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("column %d: want %s: %s", e.Column, e.Want, e.Text)
}

// Parse reads an instruction in the notation of [Inst.Text]. Its control fields are those of c, with the .reuse marks of
// the text added; it lies at pc, to which branch targets are relative. Immediates may also be decimal, and an immediate
// that prints as a floating-point number may be given as the bits of its field in hexadecimal: NaNs print without their
// payload, so that only this notation tells them apart. A semicolon at the end is allowed. An error about the text is a
// [*SyntaxError].
func Parse(arch Arch, pc uint64, text string, c Control) (Inst, error) {
	p := parser{text: text, arch: arch}
	guard, err := p.guard()
	if err != nil {
		return Inst{}, err
	}
	name := p.mnemonic()
	op, ok := theTable().ops[name]
	if !ok {
		return Inst{}, p.fail(p.pos-len(name), "an opcode")
	}
	var furthest *SyntaxError
	for _, f := range theTable().byOp[op] {
		if f.Archs&arch.bit() == 0 {
			continue
		}
		i := Inst{Op: op, Form: f, Arch: arch, PC: pc, Guard: guard, Control: c}
		q := p
		err := q.form(&i)
		if err == nil {
			out, err := i.assemble(text)
			return out, q.locate(err)
		}
		if err.certain {
			return Inst{}, err
		}
		furthest = furthest.or(err)
	}
	if furthest == nil {
		return Inst{}, p.fail(p.pos-len(name), fmt.Sprintf("an opcode of sm_%d", arch))
	}
	return Inst{}, furthest
}

// or returns the error further to the right, or one that wants either.
func (e *SyntaxError) or(other *SyntaxError) *SyntaxError {
	switch {
	case e == nil || other.Column > e.Column:
		return other
	case other.Column == e.Column && !strings.Contains(e.Want, other.Want):
		e.Want += ", or " + other.Want
	}
	return e
}

// assemble encodes a parsed instruction and decodes it again, which fills in what follows from its operands and shows
// whether the word says what the text did.
func (i *Inst) assemble(text string) (Inst, error) {
	for k, n := range i.Form.reuse {
		if i.Operands[n].Reuse {
			i.Control.Reuse |= i.Form.slotBit(k)
		}
	}
	w, err := Encode(i)
	if err != nil {
		return Inst{}, fmt.Errorf("%w: %s", err, text)
	}
	out, err := Decode(i.Arch, i.PC, w)
	if err != nil {
		return Inst{}, fmt.Errorf("%w: %s", err, text)
	}
	if got, want := out.Text(), i.Text(); got != want {
		return Inst{}, fmt.Errorf("no such combination of operands and modifiers, nearest %s: %s", got, want)
	}
	return out, nil
}

// locate gives the error of an operand that was read and cannot be encoded its place in the text.
func (p *parser) locate(err error) error {
	var o *operandError
	if errors.As(err, &o) && o.index < len(p.starts) {
		return p.fail(p.starts[o.index], o.want())
	}
	return err
}

// A parser is a position in a text. Copies try alternatives.
type parser struct {
	text   string
	arch   Arch
	pos    int
	starts []int  // of the operands that have been read, by index
	suffix string // modifiers of the mnemonic that are not read yet; they end at pos
}

func (p *parser) fail(pos int, want string) *SyntaxError {
	return &SyntaxError{Text: p.text, Column: pos + 1, Want: want}
}

func (p *parser) rest() string { return p.text[p.pos:] }

func (p *parser) spaces() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t') {
		p.pos++
	}
}

// accept skips s if it comes next.
func (p *parser) accept(s string) bool {
	if !strings.HasPrefix(p.rest(), s) {
		return false
	}
	p.pos += len(s)
	return true
}

// guard reads @P0 or @!UP1, if one comes next.
func (p *parser) guard() (Guard, error) {
	p.spaces()
	g := Guard{Reg: PT}
	if !p.accept("@") {
		return g, nil
	}
	g.Neg = p.accept("!")
	g.Uniform = p.accept("U")
	n, ok := p.numbered('P', PT, "T")
	if !ok {
		return g, p.fail(p.pos, "a predicate P0 to P6 or PT")
	}
	g.Reg = n
	p.spaces()
	return g, nil
}

// mnemonic reads the opcode and sets the modifiers aside.
func (p *parser) mnemonic() string {
	end := strings.IndexAny(p.rest(), " \t;")
	if end < 0 {
		end = len(p.rest())
	}
	whole := p.rest()[:end]
	p.pos += end
	name, suffix, found := strings.Cut(whole, ".")
	if found {
		p.suffix = "." + suffix
		p.pos -= len(p.suffix)
	}
	return name
}

// form reads the modifiers and operands of a row.
func (p *parser) form(i *Inst) *SyntaxError {
	end := p.pos + len(p.suffix)
	alias, err := p.mods(i)
	if err != nil {
		return err
	}
	if p.suffix != "" {
		return p.fail(p.pos, "no modifier "+p.suffix)
	}
	p.pos = end
	if err := p.operands(i); err != nil {
		return err
	}
	p.accept(";")
	p.spaces()
	if p.pos < len(p.text) {
		return p.fail(p.pos, "the end of the instruction")
	}
	if f := i.Form; f.alias != nil && alias != "" && f.alias(i) != alias {
		err := p.fail(end, "operands that "+i.Op.String()+alias+" stands for")
		err.certain = true
		return err
	}
	return nil
}

// mods reads the modifiers of a row, in order.
func (p *parser) mods(i *Inst) (alias string, err *SyntaxError) {
	f := i.Form
	if f.Suffix != "" && !p.modifier(f.Suffix) {
		return "", p.fail(p.pos, f.Suffix)
	}
	if f.alias != nil {
		for _, a := range imadAliases {
			if p.modifier(a) {
				alias = a
			}
		}
	}
	i.Mods = make([]Mod, len(f.Mods))
	for k := range f.Mods {
		m := &f.Mods[k]
		code, ok := p.modifierOf(m.names)
		if !ok {
			return "", p.fail(p.pos, m.names.list())
		}
		v, _ := m.names.lookup(code)
		i.Mods[k] = Mod{m.Kind, v}
	}
	return alias, nil
}

// modifier skips a modifier if it comes next and is not the beginning of a longer one.
func (p *parser) modifier(text string) bool {
	rest, ok := strings.CutPrefix(p.suffix, text)
	if !ok || rest != "" && rest[0] != '.' {
		return false
	}
	p.suffix = rest
	p.pos += len(text)
	return true
}

// modifierOf reads the longest spelling of e that comes next, or nothing where e has a value without spelling.
func (p *parser) modifierOf(e *enum) (code uint64, ok bool) {
	best := -1
	for c, t := range e.text {
		if t == bad {
			continue
		}
		q := *p
		if (t == "" || q.modifier(t)) && (best < 0 || len(t) > len(e.text[best])) {
			best = c
		}
	}
	if best < 0 {
		return 0, false
	}
	if t := e.text[best]; t != "" {
		p.modifier(t)
	}
	return uint64(best), true
}

// list returns the spellings of e.
func (e *enum) list() string {
	var l []string
	for _, t := range e.text {
		if t != bad && t != "" {
			l = append(l, t)
		}
	}
	return strings.Join(l, " or ")
}

// operands reads the operands of a row.
func (p *parser) operands(i *Inst) *SyntaxError {
	f := i.Form
	i.Operands = make([]Operand, len(f.Operands))
	first := true
	var skipped *SyntaxError // why the last optional operand was passed over
	p.starts = make([]int, len(f.Operands))
	for k := range f.Operands {
		s, o := &f.Operands[k], &i.Operands[k]
		*o = s.plain()
		if s.Show == never {
			continue
		}
		q := *p
		err := q.separator(s, first)
		if err == nil {
			q.spaces()
			p.starts[k] = q.pos
			err = q.operand(s, o)
		}
		switch {
		case err == nil:
			*p, first = q, false
		case s.Show == unlessPlain || s.ofUniform:
			*o = s.plain()
			skipped = err
		case skipped != nil && skipped.Column > err.Column:
			return skipped
		default:
			return err
		}
	}
	p.spaces()
	if skipped != nil && p.pos < skipped.Column-1 && p.rest() != ";" && p.rest() != "" {
		return skipped
	}
	return nil
}

// plain returns the operand that goes without saying.
func (s *Slot) plain() Operand {
	o := Operand{Kind: s.Kind, UReg: URZ, Not: s.DefaultNot}
	if s.Kind == KindImm {
		o.Imm = s.Default
	} else {
		o.Reg = uint8(s.Default)
	}
	return o
}

// separator reads what stands between an operand and the one before.
func (p *parser) separator(s *Slot, first bool) *SyntaxError {
	p.spaces()
	if !first && s.join == "" && !p.accept(",") {
		return p.fail(p.pos, "a comma and "+s.Name)
	}
	p.spaces()
	return nil
}

// imadAliases are the spellings that imadAlias returns.
var imadAliases = []string{".MOV", ".IADD", ".SHL"}
