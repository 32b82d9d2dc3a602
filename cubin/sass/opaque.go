package sass

// Opaque reports whether the instruction is one of shaders, textures or traps, or has a modifier, an operand or a form that
// nvdisasm prints, but whose meaning is not published and that the compilers' compute code does not have. Such an instruction
// can be read, printed and assembled; it cannot be executed. [Inst.Purpose] says what it is for.
func (i *Inst) Opaque() bool {
	f := i.Form
	if f == nil || f.opaque {
		return f != nil
	}
	for _, m := range i.Mods {
		if m.Kind == Obscure && m.Value != 0 {
			return true
		}
	}
	for k := range f.Operands {
		s, o := &f.Operands[k], &i.Operands[k]
		if s.opaque && !s.isDefault(o) {
			return true
		}
	}
	return false
}

// Purpose returns what an opaque instruction is for, where that is known: "textures and surfaces", "shaders", or "traps,
// drivers and debuggers"; "" for all others.
func (i *Inst) Purpose() string {
	if !i.Known() {
		return ""
	}
	return i.Form.purpose
}

// The purposes of instructions that are not executed.
const (
	ofTextures = "textures and surfaces"
	ofShaders  = "shaders"
	ofSystem   = "traps, drivers and debuggers"
)

// obscure is a flag that makes an instruction opaque, obscureNames a field of which all codes but 0 do.
func obscure(bit uint8, text string) ModField { return flag(Obscure, bit, text) }
func obscureNames(lo, n uint8, text ...string) ModField {
	return mod(Obscure, lo, n, &enum{text: text})
}

// opaque marks an operand that makes an instruction opaque where it is printed.
func opaque(s Slot) Slot {
	s.Show, s.opaque = unlessPlain, true
	return s
}

// behind lets an operand be printed where the one before it is.
func behind(s Slot) Slot {
	s.Show, s.behind = unlessPlain, true
	return s
}

// purposed marks rows as opaque that have a purpose other than computing.
func purposed(purpose string, forms []Form) []Form {
	for i := range forms {
		forms[i].purpose = purpose
	}
	return printOnly(forms...)
}

// printOnly marks rows as opaque.
func printOnly(forms ...Form) []Form {
	for i := range forms {
		forms[i].opaque = true
	}
	return forms
}
