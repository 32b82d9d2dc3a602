package launch

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Write returns the YAML that [Parse] reads the file from again. renamed gives the files that it refers to, the module aside, other names.
func (f *File) Write(renamed func(string) string) []byte {
	w := &fileWriter{renamed: renamed}
	w.line("module: %s", quoted(f.Module))
	if f.Stack != DefaultStack {
		w.line("stack: %d", f.Stack)
	}
	if f.Heap != DefaultHeap {
		w.line("heap: %d", f.Heap)
	}
	if f.Caches != Cold {
		w.line("caches: %s", f.Caches)
	}
	w.buffers("buffers", f.Buffers, "")
	w.buffers("symbols", f.Symbols, "{zero: true}") // a symbol without one looks as if it kept the module's content
	w.line("launches:")
	for i := range f.Launches {
		w.launch(&f.Launches[i])
	}
	if len(f.Expect) > 0 {
		w.line("expect:")
	}
	for _, x := range f.Expect {
		w.line("  %s: {file: %s, rtol: %s, atol: %s}", quoted(x.Name), quoted(renamed(x.File)), floatNumber(x.Rtol), floatNumber(x.Atol))
	}
	return w.out.Bytes()
}

// Files lists the files that the file refers to, the module aside, without repetition.
func (f *File) Files() (names []string) {
	met := make(map[string]bool)
	f.Write(func(name string) string {
		if !met[name] {
			met[name] = true
			names = append(names, name)
		}
		return name
	})
	return names
}

// A fileWriter writes a launch file.
type fileWriter struct {
	out     bytes.Buffer
	renamed func(string) string
}

func (w *fileWriter) line(format string, args ...any) {
	fmt.Fprintf(&w.out, format+"\n", args...)
}

// quoted is a text as YAML's double-quoted scalars are, whose escapes for ASCII are Go's.
func quoted(s string) string { return strconv.QuoteToASCII(s) }

// flow is a mapping or a list between braces or brackets.
func flow(open string, parts []string, end string) string {
	return open + strings.Join(parts, ", ") + end
}

// buffers writes buffers or symbols. zeros is how initial content of zeros is written, "" for not at all.
func (w *fileWriter) buffers(key string, list []Buffer, zeros string) {
	if len(list) > 0 {
		w.line("%s:", key)
	}
	for i := range list {
		b := &list[i]
		var parts []string
		if b.HasType {
			parts = append(parts, "type: "+b.Type.String())
		}
		if b.Shape != nil {
			parts = append(parts, "shape: "+numbers(b.Shape))
		}
		if init := w.init(&b.Init, zeros); init != "" {
			parts = append(parts, "init: "+init)
		}
		if b.PointerFile != "" {
			parts = append(parts, "pointers: {file: "+quoted(w.renamed(b.PointerFile))+"}")
		} else if len(b.Pointers) > 0 {
			var pointers []string
			for _, p := range b.Pointers {
				pointers = append(pointers, fmt.Sprintf("{at: %d, buffer: %s, offset: %d}", p.At, quoted(p.Buffer), p.Offset))
			}
			parts = append(parts, "pointers: "+flow("[", pointers, "]"))
		}
		w.line("  %s: %s", quoted(b.Name), flow("{", parts, "}"))
	}
}

// init is the initial content.
func (w *fileWriter) init(i *Init, zeros string) string {
	pair := fmt.Sprintf("[%s, %s]", i.A.written(), i.B.written())
	var how string
	switch i.Kind {
	case InitZero:
		return zeros
	case InitNone:
		how = "none: true"
	case InitFill:
		how = "fill: " + i.A.written()
	case InitIota:
		how = "iota: " + pair
	case InitUniform:
		how = "uniform: " + pair
	case InitNormal:
		how = "normal: " + pair
	case InitPermutation:
		how = "permutation: true"
	case InitFile:
		how = "file: " + quoted(w.renamed(i.File))
	}
	if i.Seed != 0 {
		how += ", seed: " + strconv.FormatInt(int64(i.Seed), 10)
	}
	return "{" + how + "}"
}

func (w *fileWriter) launch(l *Launch) {
	w.line("  - kernel: %s", quoted(l.Kernel))
	w.line("    grid: %s", numbers(l.Grid[:]))
	w.line("    block: %s", numbers(l.Block[:]))
	if l.Shared != 0 {
		w.line("    shared: %d", l.Shared)
	}
	if l.Cluster != [3]int{} {
		w.line("    cluster: %s", numbers(l.Cluster[:]))
	}
	if l.Cooperative {
		w.line("    cooperative: true")
	}
	if l.Repeat != 1 {
		w.line("    repeat: %d", l.Repeat)
	}
	if len(l.Args) > 0 {
		w.line("    args:")
	}
	for i := range l.Args {
		w.line("      - %s", l.Args[i].written())
	}
}

// written is a number that is read as one of its kind again.
func (n number) written() string {
	s := n.String()
	if !n.isInt && !strings.ContainsAny(s, ".eIN") {
		s += ".0"
	}
	return s
}

// written is an argument as a launch file has it.
func (a *Arg) written() string {
	switch {
	case a.Map != nil:
		return a.writtenMap()
	case a.image() != nil:
		return a.writtenImage()
	case a.Buffer != "" && a.Offset != 0:
		return fmt.Sprintf("{buffer: %s, offset: %d}", quoted(a.Buffer), a.Offset)
	case a.Buffer != "":
		return fmt.Sprintf("{buffer: %s}", quoted(a.Buffer))
	case a.Bytes != nil:
		return fmt.Sprintf("{bytes: %s}", quoted(hex.EncodeToString(a.Bytes)))
	}
	return fmt.Sprintf("{%s: %s}", a.Type, a.Value.written())
}

func (a *Arg) writtenMap() string {
	m := a.Map
	parts := []string{
		"buffer: " + quoted(a.Buffer), fmt.Sprintf("offset: %d", a.Offset), "type: " + tensorTypes[m.Type], "dims: " + numbers(m.Sizes), "strides: " + numbers(m.Strides),
		"box: " + numbers(m.Box), "element_strides: " + numbers(m.ElementStrides), fmt.Sprintf("swizzle: %d", swizzleBytes[m.Swizzle]),
	}
	if m.NaN {
		parts = append(parts, "fill: nan")
	}
	return "{tensormap: " + flow("{", parts, "}") + "}"
}

func numbers[T int | uint32 | uint64](list []T) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, fmt.Sprint(n))
	}
	return flow("[", parts, "]")
}
