// Package skeleton writes launch files for the kernels of a source: with grids, blocks, arguments and sizes of buffers as its <<<>>> and cudaMalloc have
// them, where these can be evaluated without running the program, and with guesses that say that they are.
package skeleton

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gpa/cubin"
	"gpa/cubin/cxx"
)

// What stands for sizes that nothing tells.
const (
	guessedGrid  = 1024
	guessedBlock = 256
)

// guess is the comment of what stands there only because something must.
const guess = "not known: a guess"

// Launches writes the launch file of a module's kernels, named module there. source is its CUDA source, nil where there is none. Kernels that the source
// launches come in the order in which it does; where it launches none, each comes once.
func Launches(source []byte, module string, m *cubin.File) ([]byte, error) {
	if len(m.Kernels) == 0 {
		return nil, errors.New("there is no kernel in it")
	}
	w := &writer{s: cxx.NewSource(source), buffers: make(map[string]*buffer)}
	calls := w.calls(m)
	if len(calls) == 0 {
		for _, k := range m.Kernels {
			calls = append(calls, call{kernel: k})
		}
	}
	for _, c := range calls {
		w.launch(&c)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# What says that it is a guess is for you to say.\nmodule: %s\n", module)
	if len(w.order) > 0 {
		out.WriteString("buffers:\n")
	}
	for _, name := range w.order {
		out.WriteString(w.buffers[name].line(name))
	}
	out.WriteString("launches:\n")
	out.Write(w.launches.Bytes())
	return out.Bytes(), nil
}

// Name is the module's name in the launch file of a source: that of the cubin that a compiler makes beside it for an architecture.
func Name(source string, m *cubin.File) string {
	base := filepath.Base(source)
	return fmt.Sprintf("%s.sm_%d.cubin", strings.TrimSuffix(base, filepath.Ext(base)), m.Arch)
}

// A call is a launch in the source, by tokens; nothing but the kernel where there is none.
type call struct {
	kernel *cubin.Kernel
	line   int
	config [][2]int // grid, block, shared memory, stream
	args   [][2]int
}

// A buffer is what a pointer leads to.
type buffer struct {
	element cxx.Element
	count   int64
	written bool // by some kernel, as far as const tells
	why     string
}

func (b *buffer) line(name string) string {
	init := "zero: true"
	if !b.written {
		switch b.element.Name[0] {
		case 'f', 'b':
			init = "uniform: [0, 1]"
		default:
			init = "permutation: true" // indices into something as long
		}
	}
	return fmt.Sprintf("  %s: {type: %s, shape: [%d], init: {%s}}%s\n", name, b.element.Name, b.count*int64(b.element.Count), init, comment(b.why))
}

func comment(text string) string {
	if text == "" {
		return ""
	}
	return "  # " + strings.Join(strings.Fields(text), " ")
}

// A writer collects the parts of a launch file.
type writer struct {
	s        *cxx.Source
	buffers  map[string]*buffer
	order    []string
	launches bytes.Buffer
}

// calls lists the launches that the source writes down, of kernels that the module has.
func (w *writer) calls(m *cubin.File) (list []call) {
	s := w.s
	for i := range s.Tokens {
		if s.At(i) != "<<" || s.At(i+1) != "<" || s.Tokens[i].End != s.Tokens[i+1].Start {
			continue
		}
		name, arguments := i-1, ""
		if s.At(name) == ">" { // of a template
			open := name
			for depth := 1; depth > 0 && open > 0; {
				open--
				switch s.At(open) {
				case ">":
					depth++
				case "<":
					depth--
				}
			}
			arguments, name = s.Between(open, name), open-1
		}
		end := closed(s, i+2)
		if !s.Is(name, cxx.Identifier) || end < 0 || s.At(end+3) != "(" || s.Match(end+3) < 0 {
			continue
		}
		k := kernelOf(m, s.At(name), arguments)
		if k == nil {
			continue
		}
		list = append(list, call{k, s.Tokens[i].Line, s.Parts(i+2, end-1), s.Parts(end+4, s.Match(end+3)-1)})
	}
	return list
}

// closed is the first token of the >>> that ends a configuration, -1 for none.
func closed(s *cxx.Source, from int) int {
	for i := from; i+2 < len(s.Tokens) && s.At(i) != ";"; i++ {
		if s.Match(i) > i {
			i = s.Match(i)
			continue
		}
		if s.At(i) == ">" && s.At(i+1) == ">" && s.At(i+2) == ">" && s.Tokens[i].End == s.Tokens[i+1].Start && s.Tokens[i+1].End == s.Tokens[i+2].Start {
			return i
		}
	}
	return -1
}

// kernelOf is the kernel that a name with template arguments stands for: that which is called so, or the first of that name.
func kernelOf(m *cubin.File, name, arguments string) (found *cubin.Kernel) {
	plain := func(text string) string { return strings.ReplaceAll(text, " ", "") }
	for _, k := range m.Kernels {
		if plain(k.Demangled) == plain(name+arguments) {
			return k
		}
		if baseName(k) == name && found == nil {
			found = k
		}
	}
	return found
}

// baseName is the name of a kernel without namespaces and template arguments.
func baseName(k *cubin.Kernel) string {
	name, _, _ := strings.Cut(k.Demangled, "<")
	return name[strings.LastIndex(name, ":")+1:]
}

// A parameter is a kernel's, as the source declares it or the cubin has it.
type parameter struct {
	name     string
	element  cxx.Element // of what it points to, or of itself; the zero value where it is not known
	pointer  bool
	constant bool // what it points to
	unknown  bool // whether it is a pointer, and to what
	size     int
}

// parameters are those of a kernel.
func (w *writer) parameters(k *cubin.Kernel) []parameter {
	list := make([]parameter, len(k.Params))
	types := cubin.ParameterTypes(k.Name)
	var declared []cxx.Parameter
	if functions := w.s.Functions(baseName(k)); len(functions) > 0 {
		declared = w.s.Parameters(&functions[0])
	}
	for i := range list {
		p := &list[i]
		p.name, p.size = "p"+strconv.Itoa(i), k.Params[i].Size
		if len(types) == len(list) { // instances of templates have theirs written out
			p.pointer = strings.HasSuffix(types[i], "*")
			p.constant = strings.HasSuffix(strings.TrimSuffix(types[i], "*"), " const")
			p.element = cxx.ElementOf(strings.TrimSuffix(types[i], "*"))
		}
		if len(declared) == len(list) {
			w.declare(p, &declared[i], len(types) == len(list))
		} else if len(types) != len(list) && p.size == 8 { // nothing tells: most such are pointers
			p.pointer, p.unknown, p.element = true, true, cxx.Element{Name: "f32", Count: 1}
		}
		if !p.pointer && p.element.Bytes() != p.size {
			p.element = cxx.Element{}
		}
		p.pointer = p.pointer && p.size == 8
	}
	return list
}

// declare takes over what the source says of a parameter. Its type counts only where the symbol has none.
func (w *writer) declare(p *parameter, d *cxx.Parameter, typed bool) {
	s := w.s
	name := d.Name
	if name < 0 {
		name = d.Last
	}
	if s.Is(name, cxx.Identifier) && name > d.First {
		p.name = s.At(name)
	}
	if typed {
		return
	}
	p.pointer, p.constant = d.Star >= 0, d.Constant
	last := name - 1
	if p.pointer {
		last = d.Star - 1
	}
	if last >= d.First {
		p.element = cxx.ElementOf(s.Between(d.First, last))
	}
}

// launch writes a launch and collects its buffers.
func (w *writer) launch(c *call) {
	grid, gridKnown := w.size(c.config, 0)
	block, blockKnown := w.size(c.config, 1)
	if !gridKnown {
		grid = []int64{guessedGrid}
	}
	if !blockKnown {
		block = []int64{guessedBlock}
		for i, n := range c.kernel.ReqThreads {
			if n > 0 && i == 0 {
				block = nil
			}
			if n > 0 {
				block = append(block, int64(n))
			}
		}
	}
	line := func(format string, args ...any) { fmt.Fprintf(&w.launches, format+"\n", args...) }
	from := ""
	if c.line > 0 {
		from = fmt.Sprintf("line %d", c.line)
	}
	line("  - kernel: %s%s", strconv.Quote(c.kernel.Demangled), comment(from))
	line("    grid: %s%s", sizeText(grid), comment(unless(gridKnown)))
	line("    block: %s%s", sizeText(block), comment(unless(blockKnown)))
	if len(c.config) > 2 {
		shared, ok := w.s.Eval(c.config[2][0], c.config[2][1])
		if !ok || shared.Int != 0 {
			line("    shared: %d%s", shared.Int, comment(unless(ok)))
		}
	}
	threads := int64(1)
	for _, n := range append(slices.Clone(grid), block...) {
		threads *= n
	}
	parameters := w.parameters(c.kernel)
	if len(parameters) == 0 {
		return
	}
	line("    args:")
	for i := range parameters {
		var arg *[2]int
		if i < len(c.args) {
			arg = &c.args[i]
		}
		line("      - %s", w.argument(&parameters[i], arg, threads))
	}
}

func unless(known bool) string {
	if known {
		return ""
	}
	return guess
}

func sizeText(size []int64) string {
	var parts []string
	for _, n := range size {
		parts = append(parts, strconv.FormatInt(n, 10))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// size evaluates a part of a configuration: a number, a dim3 that is written there, or a variable that was declared as one.
func (w *writer) size(config [][2]int, part int) ([]int64, bool) {
	if part >= len(config) {
		return nil, false
	}
	first, last := config[part][0], config[part][1]
	if v, ok := w.s.Eval(first, last); ok {
		return []int64{v.Int}, v.Int > 0
	}
	s := w.s
	if s.At(first) == "dim3" && s.Match(first+1) == last {
		return w.dimensions(first+2, last-1)
	}
	if first != last {
		return nil, false
	}
	for i := first - 1; i > 0; i-- { // dim3 grid(…), dim3 grid{…}, dim3 a(…), grid = dim3(…)
		if s.At(i) != s.At(first) {
			continue
		}
		open := i + 1
		if s.At(open) == "=" {
			open++
			if s.At(open) == "dim3" {
				open++
			}
		}
		if (s.At(open) == "(" || s.At(open) == "{") && s.Match(open) > 0 {
			if size, ok := w.dimensions(open+1, s.Match(open)-1); ok {
				return size, true
			}
		}
	}
	return nil, false
}

// dimensions evaluates up to three sizes.
func (w *writer) dimensions(first, last int) (size []int64, ok bool) {
	for _, p := range w.s.Parts(first, last) {
		v, ok := w.s.Eval(p[0], p[1])
		if !ok || v.Int <= 0 {
			return nil, false
		}
		size = append(size, v.Int)
	}
	return size, 0 < len(size) && len(size) <= 3
}

// argument is an argument of a launch file.
func (w *writer) argument(p *parameter, arg *[2]int, threads int64) string {
	if p.pointer {
		return w.pointer(p, arg, threads)
	}
	if p.element.Count != 1 {
		return fmt.Sprintf("{bytes: %q}%s", strings.Repeat("00", p.size), comment(p.name+", "+guess))
	}
	if arg != nil {
		if v, ok := w.s.Eval(arg[0], arg[1]); ok {
			return fmt.Sprintf("{%s: %s}%s", p.element.Name, number(v, p.element), comment(p.name))
		}
	}
	value := int64(1)
	if strings.HasPrefix(p.element.Name, "i") || strings.HasPrefix(p.element.Name, "u") {
		if lower := strings.ToLower(p.name); slices.Contains([]string{"n", "num", "size", "len", "length", "count", "total", "n_elements", "numelements"}, lower) && p.size >= 4 {
			value = threads
		}
	}
	return fmt.Sprintf("{%s: %d}%s", p.element.Name, value, comment(p.name+", "+guess))
}

// number is a value as an argument of a type.
func number(v cxx.Value, e cxx.Element) string {
	if e.Name[0] == 'f' || e.Name[0] == 'b' {
		return strconv.FormatFloat(v.Number(), 'g', -1, 64)
	}
	if v.IsReal {
		return strconv.FormatInt(int64(v.Real), 10)
	}
	bits := 8 * e.Bytes()
	if e.Name[0] == 'u' && v.Int < 0 && bits < 64 {
		return strconv.FormatInt(v.Int&(1<<bits-1), 10)
	}
	if e.Name[0] == 'u' {
		return strconv.FormatUint(uint64(v.Int), 10)
	}
	return strconv.FormatInt(v.Int, 10)
}

// pointer is the argument for a buffer, which it makes where it is new: under the name of the argument's variable.
func (w *writer) pointer(p *parameter, arg *[2]int, threads int64) string {
	name := p.name
	if arg != nil {
		for i := arg[0]; i <= arg[1]; i++ {
			if t := w.s.At(i); w.s.Is(i, cxx.Identifier) && !slices.Contains([]string{"thrust", "raw_pointer_cast", "reinterpret_cast", "static_cast", "const"}, t) && cxx.ElementOf(t).Name == "" {
				name = t
				break
			}
		}
		if w.s.At(arg[0]) == "nullptr" || w.s.At(arg[0]) == "NULL" {
			return "{u64: 0}" + comment(p.name)
		}
	}
	element := p.element
	if element.Name == "" {
		element = cxx.Element{Name: "u8", Count: 1}
	}
	b := w.buffers[name]
	if b == nil {
		b = &buffer{element: element, count: max(1, min(threads, math.MaxInt32))}
		if bytes, line := w.allocated(name); bytes > 0 {
			b.count, b.why = (bytes+int64(element.Bytes())-1)/int64(element.Bytes()), fmt.Sprintf("allocated in line %d", line)
		} else {
			b.why = "size " + guess + ", an element a thread"
		}
		if p.unknown {
			b.why = "type and size " + guess
		}
		w.buffers[name] = b
		w.order = append(w.order, name)
	}
	b.written = b.written || !p.constant
	return fmt.Sprintf("{buffer: %s}%s", name, comment(p.name))
}

// allocated is how many bytes a variable's allocation asks for, and in which line; 0 where nothing tells.
func (w *writer) allocated(name string) (bytes int64, line int) {
	s := w.s
	for i := range s.Tokens {
		if !slices.Contains([]string{"cudaMalloc", "cudaMallocManaged", "cudaMallocAsync", "hipMalloc"}, s.At(i)) || s.At(i+1) != "(" || s.Match(i+1) < 0 {
			continue
		}
		parts := s.Parts(i+2, s.Match(i+1)-1)
		if len(parts) < 2 {
			continue
		}
		target := ""
		for j := parts[0][0]; j <= parts[0][1]; j++ { // the last name: &p, (void **)&p
			if s.Is(j, cxx.Identifier) {
				target = s.At(j)
			}
		}
		if target != name {
			continue
		}
		if v, ok := s.Eval(parts[1][0], parts[1][1]); ok && v.Number() >= 1 && v.Number() < math.MaxInt32*16 {
			return int64(v.Number()), s.Tokens[i].Line
		}
	}
	return 0, 0
}
