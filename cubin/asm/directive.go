package asm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gpa/cubin/sass"
)

// Bounds of what a kernel can ask for, from the CUDA programming guide ("Features and technical specifications").
const (
	maxRegisters = 255
	maxShared    = 227 << 10
	maxBarriers  = 16
	maxLocal     = 512 << 10
	maxBank      = 64 << 10
	maxParams    = 32764
)

type directive func(*assembler, *args) error

// directives are those of the form that people write, and in the last lines those of the section form.
var directives = map[string]directive{
	".arch": setArch, ".equ": setEqu,
	".kernel": beginKernel, ".function": beginFunction, ".func": addFunction,
	".param": addParam, ".reg": setRegisters, ".shared": setShared, ".local": setLocal, ".barriers": setBarriers,
	".maxthreads": setMaxThreads, ".reqthreads": setReqThreads, ".line": setLine,
	".global": beginGlobal, ".constant": beginConstant,
	".byte": dataOf(1), ".half": dataOf(2), ".word": dataOf(4), ".quad": dataOf(8), ".zero": addZeros,
	".float": addFloats, ".double": addDoubles, ".asciz": addText, ".inst": addWord,
	".elf": beginExact, ".section": exactSection, ".segment": exactSegment, ".symbol": exactSymbol,
	".strings": exactStrings, ".attr": exactAttribute, ".bytes": exactBytes, ".gap": exactGap,
}

func directiveList() string { return strings.Join(slices.Sorted(maps.Keys(directives)), " ") }

// archs are the architectures by the names that compilers give them.
func archs() (names []string) {
	for _, a := range sass.Archs() {
		names = append(names, fmt.Sprintf("sm_%d", a))
	}
	return names
}

func setArch(a *assembler, g *args) error {
	g.spaces()
	at := g.at
	name, err := g.name("an architecture as sm_70")
	if err != nil {
		return err
	}
	known := slices.Index(archs(), name)
	if known < 0 {
		g.at = at
		return g.fail("want one of %s", strings.Join(archs(), ", "))
	}
	arch := sass.Archs()[known]
	if a.arch != 0 {
		return a.errorAt(g.pos, "a second .arch")
	}
	a.arch = arch
	return g.end()
}

// setEqu gives a number a name: .equ N, 16.
func setEqu(a *assembler, g *args) error {
	name, err := g.newName("a name")
	if err != nil {
		return err
	}
	g.accept(',')
	v, err := g.number("a number")
	if err != nil {
		return err
	}
	a.values[name] = v
	return g.end()
}

// newName reads a name that stands for nothing else yet.
func (g *args) newName(what string) (string, error) {
	g.spaces()
	at := g.at
	name, err := g.name(what)
	if err != nil {
		return "", err
	}
	_, equ := g.a.values[name]
	if reserved(name) || equ {
		g.at = at
		return "", g.fail("%s means something else", name)
	}
	return name, nil
}

// reserved reports whether a name is that of an operand of instructions.
func reserved(name string) bool {
	switch name {
	case "c", "cx", "desc", "PR", "RZ", "URZ", "PT", "UPT":
		return true
	}
	for _, prefix := range []string{"UR", "UP", "SB", "R", "P", "B", "SR_"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			return true
		}
	}
	return strings.HasPrefix(name, "SR_")
}

// newSymbol reads the name of a function or variable of the module.
func (g *args) newSymbol(what string) (string, error) {
	g.spaces()
	at := g.at
	name, err := g.newName(what)
	if err == nil && g.a.symbols[name] {
		g.at = at
		return "", g.fail("a second %s", name)
	}
	g.a.symbols[name] = true
	return name, err
}

func beginKernel(a *assembler, g *args) error { return a.begin(g, true) }

// beginFunction begins a section of code that is no kernel.
func beginFunction(a *assembler, g *args) error { return a.begin(g, false) }

func (a *assembler) begin(g *args, kernel bool) error {
	if a.arch == 0 {
		return a.errorAt(g.pos, "want .arch sm_NN before the first kernel")
	}
	if a.exact != nil {
		return a.errorAt(g.pos, "kernels and .section do not go together in a file")
	}
	name, err := g.newSymbol("the name of a kernel or function")
	if err != nil {
		return err
	}
	a.code, a.data = newCode(name, kernel), nil
	a.codes = append(a.codes, a.code)
	return g.end()
}

// inCode returns the code that a directive is about.
func (a *assembler) inCode(g *args) (*code, error) {
	if a.code == nil {
		return nil, a.errorAt(g.pos, "want .kernel or .function before this")
	}
	return a.code, nil
}

// addFunction begins a device function behind the kernel's code, in the same section.
func addFunction(a *assembler, g *args) error {
	c, err := a.inCode(g)
	if err != nil {
		return err
	}
	g.spaces()
	at := position{g.pos.line, g.at + 1}
	name, err := g.newName("the name of a function")
	if err != nil {
		return err
	}
	c.functions = append(c.functions, function{name, len(c.items)})
	if err := a.addLabel(c, name, at); err != nil {
		return err
	}
	return g.end()
}

// addParam adds a parameter: .param out, 8 or .param 8. It lies behind the ones before, aligned to its size.
func addParam(a *assembler, g *args) error {
	c, err := a.inCode(g)
	if err != nil {
		return err
	}
	name := ""
	if g.spaces(); g.at < len(g.line) && nameByte(g.line[g.at], true) {
		if name, err = g.newName("a name"); err != nil {
			return err
		}
		g.accept(',')
	}
	size, err := g.count("the size of a parameter in bytes", maxParams)
	if err != nil {
		return err
	}
	align := 1
	for align < size && align < 8 {
		align *= 2
	}
	if g.accept(',') {
		if align, err = g.count("an alignment", 128); err != nil {
			return err
		}
	}
	if size == 0 || align&(align-1) != 0 || align == 0 {
		return a.errorAt(g.pos, "want a size above 0 and an alignment that is a power of two")
	}
	offset := (c.paramSize + align - 1) &^ (align - 1)
	if c.paramSize = offset + size; c.paramSize > maxParams {
		return a.errorAt(g.pos, "parameters of %d bytes, at most %d", c.paramSize, maxParams)
	}
	c.params = append(c.params, param{name, offset, size})
	if name != "" {
		c.names[name] = int64(paramBase(a.arch) + offset)
	}
	return g.end()
}

// countOf makes the directive that sets one count of the code.
func countOf(what string, most int64, field func(*code) *int) directive {
	return func(a *assembler, g *args) error {
		c, err := a.inCode(g)
		if err != nil {
			return err
		}
		if *field(c), err = g.count(what, most); err != nil {
			return err
		}
		return g.end()
	}
}

var (
	setRegisters = countOf("a number of registers", maxRegisters, func(c *code) *int { return &c.registers })
	setShared    = countOf("bytes of shared memory", maxShared, func(c *code) *int { return &c.shared })
	setLocal     = countOf("bytes of local memory a thread", maxLocal, func(c *code) *int { return &c.local })
	setBarriers  = countOf("a number of named barriers", maxBarriers, func(c *code) *int { return &c.barriers })
)

func setMaxThreads(a *assembler, g *args) error {
	return a.setThreads(g, func(c *code) *[3]int { return &c.maxThreads })
}

func setReqThreads(a *assembler, g *args) error {
	return a.setThreads(g, func(c *code) *[3]int { return &c.reqThreads })
}

// setThreads reads the size of a block: X, Y and Z, the latter two 1 by default.
func (a *assembler) setThreads(g *args, field func(*code) *[3]int) error {
	c, err := a.inCode(g)
	if err != nil {
		return err
	}
	list, err := g.numbers("threads of a block", 3)
	if err != nil {
		return err
	}
	dims := [3]int{1, 1, 1}
	for i, v := range list {
		if v < 1 || v > 1024 {
			return a.errorAt(g.pos, "want 1 to 1024 threads in each dimension")
		}
		dims[i] = int(v)
	}
	*field(c) = dims
	return nil
}

// setLine says which source line the following instructions come from: .line 12 or .line "file.cu", 12.
func setLine(a *assembler, g *args) error {
	c, err := a.inCode(g)
	if err != nil {
		return err
	}
	m := mark{inst: len(c.items)}
	if len(c.marks) > 0 {
		m.file = c.marks[len(c.marks)-1].file
	}
	if g.spaces(); g.at < len(g.line) && g.line[g.at] == '"' {
		if m.file, err = g.quoted("a file name"); err != nil {
			return err
		}
		g.accept(',')
	}
	if m.line, err = g.count("a line number", 1<<31-1); err != nil {
		return err
	}
	if m.file == "" {
		m.file = a.file
	}
	c.marks = append(c.marks, m)
	return g.end()
}
