package listing

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"gpa/cubin"
	"gpa/cubin/cfg"
)

// A Function is a function and the graph of its section.
type Function struct {
	*cfg.Func
	graph *cfg.Graph
}

// Graphs builds the graphs of the functions of these names, symbols or demangled ones, or of all functions.
func Graphs(module *cubin.File, names []string) ([]Function, error) {
	choice, err := Choose(module, names)
	if err != nil {
		return nil, err
	}
	var list []Function
	for _, code := range module.Codes {
		if !choice.AnyIn(code) {
			continue
		}
		g, err := cfg.Build(module, code)
		if err != nil {
			return nil, fmt.Errorf("%s: section .text.%s: %w", module.Name, code.Name, err)
		}
		for _, fn := range g.Funcs {
			if choice[fn.Function] {
				list = append(list, Function{fn, g})
			}
		}
	}
	return list, nil
}

// GraphText prints graphs: blocks with the lines they come from, loops, calls, and, where asked for, thread frontiers.
func GraphText(w io.Writer, module *cubin.File, list []Function, frontiers bool) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s: sm_%d\n", module.Name, module.Arch)
	for i := range list {
		list[i].print(out)
		if !frontiers {
			continue
		}
		if err := list[i].printFrontiers(out); err != nil {
			return err
		}
	}
	return out.Flush()
}

// pc is the address of an instruction.
func (f *Function) pc(inst int) uint64 { return f.graph.Code.Insts[inst].PC }

// frames is where the first instruction of a block comes from.
func (f *Function) frames(b *cfg.Block) []cubin.Frame { return f.graph.Code.Frames(f.pc(b.First)) }

// loops are those of the function, outer before inner; a loop's number is its index.
func (f *Function) loops() []*cfg.Loop {
	var list []*cfg.Loop
	for _, l := range f.graph.Loops {
		if f.graph.Funcs[l.Func] == f.Func {
			list = append(list, l)
		}
	}
	return list
}

// loopNumber is the index of a loop in a list, -1 for nil.
func loopNumber(list []*cfg.Loop, loop *cfg.Loop) int {
	for i, l := range list {
		if l == loop {
			return i
		}
	}
	return -1
}

// blockNumber numbers the blocks of a function from 0.
func (f *Function) blockNumber(id int) int { return id - f.Entry }

// callees are the symbols that a call may go to.
func (f *Function) callees(c *cfg.Call) []string {
	names := []string{}
	for _, i := range c.Callees {
		names = append(names, f.graph.Funcs[i].Function.Name)
	}
	for _, r := range c.Remote {
		names = append(names, r.Name)
	}
	return names
}

// print writes a function as text.
func (f *Function) print(w io.Writer) {
	fn, loops := f.Function, f.loops()
	fmt.Fprintf(w, "\n%s: %s, %d bytes at 0x%x of .text.%s; blocks: %d, loops: %d\n",
		fn.Demangled, fn.Kind, fn.Size, fn.Offset, f.graph.Code.Name, len(f.Blocks), len(loops))
	for _, id := range f.Blocks {
		b := f.graph.Blocks[id]
		fmt.Fprintf(w, "  B%-4d 0x%04x-0x%04x %s\n", f.blockNumber(id), f.pc(b.First), f.pc(b.Last), f.blockText(b, loops))
	}
	for i, l := range loops {
		fmt.Fprintf(w, "  loop %d: header B%d, depth %d%s, blocks%s\n", i, f.blockNumber(l.Header), l.Depth, parentText(loops, l), f.blockList(l.Blocks))
	}
	for i := range f.Calls {
		c := &f.Calls[i]
		to := f.callees(c)
		if c.Extern != "" {
			to = append(to, c.Extern)
		}
		if len(to) == 0 {
			to = []string{"a function that the file does not tell"}
		}
		fmt.Fprintf(w, "  call at 0x%04x: %s%s\n", f.pc(c.Inst), strings.Join(to, ", "), whereText(f.graph.Code.Frames(f.pc(c.Inst))))
	}
}

// blockText is what a line says of a block behind its addresses.
func (f *Function) blockText(b *cfg.Block, loops []*cfg.Loop) string {
	text := "->" + f.blockList(b.Succs)
	if b.Exits {
		text += " exit"
	}
	if n := loopNumber(loops, b.Loop); n >= 0 {
		text += fmt.Sprintf(", loop %d", n)
	}
	return text + whereText(f.frames(b))
}

func (f *Function) blockList(ids []int) string {
	var out strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&out, " B%d", f.blockNumber(id))
	}
	return out.String()
}

func parentText(loops []*cfg.Loop, l *cfg.Loop) string {
	text := ""
	if n := loopNumber(loops, l.Parent); n >= 0 {
		text = fmt.Sprintf(" in loop %d", n)
	}
	if l.Gather {
		text += " (waits for lanes)"
	}
	return text
}

// whereText is a place of the source, in brackets.
func whereText(frames []cubin.Frame) string {
	if len(frames) == 0 || frames[0].File == "" {
		return ""
	}
	return "  [" + framesText(frames) + "]"
}
