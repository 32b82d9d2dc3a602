package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/reports"
)

// cfgFlags are the choices of gpa cfg.
type cfgFlags struct {
	moduleFlags
	json, dot, frontiers bool
	functions            []string
}

func cfgCommand() command {
	return command{
		name: "cfg", args: "CUBIN|KERNEL", short: "print control-flow graphs, call graph and loop nests",
		long: `Blocks and edges are those of nvdisasm -bbcfg: a CALL does not end a block. The text lists the blocks of each function
with the lines they come from (inline stacks innermost first), its loops and its calls. --dot draws the same for Graphviz:
gpa cfg --dot KERNEL | dot -Tsvg. --frontiers adds the thread frontiers of the blocks, by priority, where threads come
together again under thread frontiers and under immediate post-dominators, and the edges that keep a function from being
structured (Wu et al.'s interacting edges).

--json prints {"file", "arch", "functions": [{"name", "symbol", "visibility", "section", "offset", "size",
"blocks": [{"id", "first", "last", "successors", "exits", "loop", "frames": [{"function", "file", "line"}, …]}],
"loops": [{"id", "header", "parent", "depth", "blocks"}],
"calls": [{"pc", "callees", "extern", "frames"}]}]}. Addresses are offsets in the section; last is that of the last
instruction; frames are those of a block's first instruction, innermost first; visibility is kernel, device function or
compiler helper; exits says that control may leave the function; a loop or parent that there is none of is absent.`,
		setup: func(flags *pflag.FlagSet) action {
			var f cfgFlags
			flags.BoolVar(&f.json, "json", false, "print JSON")
			flags.BoolVar(&f.dot, "dot", false, "print a graph for Graphviz")
			flags.BoolVar(&f.frontiers, "frontiers", false, "print thread frontiers, re-convergence points and interacting edges too")
			flags.StringArrayVar(&f.functions, "function", nil, "only this function, `NAME`, by symbol or demangled; may be repeated")
			f.register(flags)
			return func(_ context.Context, e *env, args []string) error {
				name, err := oneArgument(args, "the cubin")
				if err != nil {
					return err
				}
				return f.run(e, name)
			}
		},
	}
}

func (f *cfgFlags) run(e *env, name string) error {
	if f.json && f.dot || f.frontiers && (f.json || f.dot) {
		return usagef("--json, --dot and --frontiers exclude each other")
	}
	module, err := f.open(name)
	if err != nil {
		return err
	}
	list, err := functionGraphs(module, f.functions)
	if err != nil {
		return err
	}
	if f.json {
		return reports.WriteJSON(e.stdout, cfgObjects(module, list))
	}
	w := bufio.NewWriter(e.stdout)
	if f.dot {
		printDot(w, list)
	} else {
		fmt.Fprintf(w, "%s: sm_%d\n", module.Name, module.Arch)
		for i := range list {
			list[i].print(w)
			if !f.frontiers {
				continue
			}
			if err := list[i].printFrontiers(w); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// A functionGraph is a function and the graph of its section.
type functionGraph struct {
	*cfg.Func
	graph *cfg.Graph
}

// functionGraphs builds the graphs of the functions of these names, or of all functions.
func functionGraphs(module *cubin.File, names []string) ([]functionGraph, error) {
	choose, err := newChooser(module, names)
	if err != nil {
		return nil, err
	}
	var list []functionGraph
	for _, code := range module.Codes {
		if !choose.anyIn(code) {
			continue
		}
		g, err := cfg.Build(module, code)
		if err != nil {
			return nil, fmt.Errorf("%s: section .text.%s: %w", module.Name, code.Name, err)
		}
		for _, fn := range g.Funcs {
			if choose.has(fn.Function) {
				list = append(list, functionGraph{fn, g})
			}
		}
	}
	return list, nil
}

// pc is the address of an instruction.
func (f *functionGraph) pc(inst int) uint64 { return f.graph.Code.Insts[inst].PC }

// frames is where the first instruction of a block comes from.
func (f *functionGraph) frames(b *cfg.Block) []cubin.Frame { return f.graph.Code.Frames(f.pc(b.First)) }

// loops are those of the function, outer before inner; a loop's number is its index.
func (f *functionGraph) loops() []*cfg.Loop {
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
func (f *functionGraph) blockNumber(id int) int { return id - f.Entry }

// callees are the symbols that a call may go to.
func (f *functionGraph) callees(c *cfg.Call) []string {
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
func (f *functionGraph) print(w io.Writer) {
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
func (f *functionGraph) blockText(b *cfg.Block, loops []*cfg.Loop) string {
	text := "->" + f.blockList(b.Succs)
	if b.Exits {
		text += " exit"
	}
	if n := loopNumber(loops, b.Loop); n >= 0 {
		text += fmt.Sprintf(", loop %d", n)
	}
	return text + whereText(f.frames(b))
}

func (f *functionGraph) blockList(ids []int) string {
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
