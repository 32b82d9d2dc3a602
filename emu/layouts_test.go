package emu

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu/stream"
)

// The kernels of testdata/layouts.cu, compiled by NVRTC 12.9 for sm_80 with -lineinfo, before and after changes of how work is laid out
// over threads. What-if runs of the first are held against the second.

// A layoutLaunch is a launch of one of these kernels. Its parameters are the buffers, of so many words, and numbers behind them.
type layoutLaunch struct {
	kernel      string
	grid, block int
	gridY       int
	buffers     []int
	numbers     []uint32
}

// readLayouts reads the module.
func readLayouts(tb testing.TB) *cubin.File {
	tb.Helper()
	const name = "testdata/layouts.sm_80.cubin"
	data, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	f, err := cubin.NewFile(name, data)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// loopsOf returns the outermost loops of a kernel, by address, and the loads from global memory in each.
func loopsOf(tb testing.TB, f *cubin.File, k *cubin.Kernel) (loops []Loop, loads [][]InstAt) {
	tb.Helper()
	g, err := cfg.Build(f, k.Code)
	if err != nil {
		tb.Fatal(err)
	}
	at := func(i int) InstAt { return InstAt{Code: k.Code.Index, PC: k.Code.Insts[i].PC} }
	for _, l := range g.Loops {
		if l.Depth > 1 || g.Funcs[l.Func].Function.Name != k.Name {
			continue
		}
		loop := Loop{Header: at(g.Blocks[l.Header].First)}
		var list []InstAt
		for _, b := range l.Blocks {
			for i := g.Blocks[b].First; i <= g.Blocks[b].Last; i++ {
				loop.Body = append(loop.Body, at(i))
				if k.Code.Insts[i].Op == sass.LDG {
					list = append(list, at(i))
				}
			}
		}
		loops, loads = append(loops, loop), append(loads, list)
	}
	return loops, loads
}

// time returns the result of a launch on an A100 under a what-if.
func (l *layoutLaunch) time(tb testing.TB, f *cubin.File, w *WhatIf) (*Result, error) {
	tb.Helper()
	m, err := New(modelOf(sass.SM80), f, Options{Timing: TimingFull, MaxInstructions: 1 << 28})
	if err != nil {
		tb.Fatal(err)
	}
	k, err := f.Kernel(l.kernel)
	if err != nil {
		tb.Fatal(err)
	}
	params := make([]byte, k.ParamSize)
	for i, words := range l.buffers {
		addr, err := m.Alloc(string(rune('a'+i)), int64(4*words))
		if err != nil {
			tb.Fatal(err)
		}
		data := make([]byte, 4*words)
		for n := range words {
			binary.LittleEndian.PutUint32(data[4*n:], math.Float32bits(float32(n*7919%1000)/1000))
		}
		if err := m.Write(addr, data); err != nil {
			tb.Fatal(err)
		}
		binary.LittleEndian.PutUint64(params[k.Params[i].Offset-0:], addr)
	}
	for i, n := range l.numbers {
		binary.LittleEndian.PutUint32(params[k.Params[len(l.buffers)+i].Offset:], n)
	}
	return m.Launch(context.Background(), &Launch{Kernel: k, Grid: [3]int{l.grid, max(l.gridY, 1), 1}, Block: [3]int{l.block, 1, 1}, Params: params, WhatIf: w})
}

// A layoutPair is a change and a kernel in which it is made.
type layoutPair struct {
	name          string
	before, after layoutLaunch
	edit          func(loops []Loop, loads [][]InstAt) *Streams
	registers     int
	shared        int
	gone          []InstAt
	coalesced     []InstAt
	most          float64 // that the what-if run may be off, 0 for a tenth
}

// rolled divides the rounds that the source has: what the loops of a kernel have of an opcode is copies of one instruction.
func rolled(tb testing.TB, f *cubin.File, kernel string, width int) func([]Loop, [][]InstAt) *Streams {
	k, err := f.Kernel(kernel)
	if err != nil {
		tb.Fatal(err)
	}
	return func(loops []Loop, _ [][]InstAt) *Streams {
		copies := make(map[sass.Op][]InstAt)
		all := Loop{}
		for _, l := range loops {
			all.Body = append(all.Body, l.Body...)
			for _, at := range l.Body {
				op := k.Code.Insts[at.PC/sass.InstSize].Op
				copies[op] = append(copies[op], at)
			}
		}
		r := &Roll{Copies: [][]InstAt{copies[sass.LDG]}, Width: width, Unrolled: 4}
		all.Header = copies[sass.LDG][0]
		delete(copies, sass.LDG)
		for _, op := range slices.Sorted(maps.Keys(copies)) {
			r.Copies = append(r.Copies, copies[op])
		}
		return &Streams{Roll: r, Transpose: &Transpose{Loops: []Loop{all}, Width: width, Combine: true}}
	}
}

func transposed(width, threads int) func([]Loop, [][]InstAt) *Streams {
	return func(loops []Loop, _ [][]InstAt) *Streams {
		return &Streams{Transpose: &Transpose{Loops: loops, Width: width, Threads: threads, Combine: true}}
	}
}

func merged(list ...stream.Merge) func([]Loop, [][]InstAt) *Streams {
	return func([]Loop, [][]InstAt) *Streams { return &Streams{Merge: list} }
}

// instructions are those of a kernel whose operation is wanted.
func instructions(tb testing.TB, f *cubin.File, kernel string, wanted func(*sass.Inst) bool) (list []InstAt) {
	tb.Helper()
	k, err := f.Kernel(kernel)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range k.Code.Insts {
		if wanted(&k.Code.Insts[i]) {
			list = append(list, InstAt{Code: k.Code.Index, PC: k.Code.Insts[i].PC})
		}
	}
	return list
}

// opcode wants instructions with one of some opcodes.
func opcode(ops ...sass.Op) func(*sass.Inst) bool {
	return func(in *sass.Inst) bool { return slices.Contains(ops, in.Op) }
}

// uniformLoad wants the loads from shared memory by which all threads read one word.
func uniformLoad(in *sass.Inst) bool { return in.Op == sass.LDS && in.Address().Reg == sass.RZ }

// fours divides loads into groups of four in the order of their addresses.
func fours(tb testing.TB, f *cubin.File, list []InstAt) [][]InstAt {
	tb.Helper()
	offset := func(at InstAt) int32 { return f.Codes[at.Code].Insts[at.PC/sass.InstSize].Address().Offset }
	slices.SortFunc(list, func(x, y InstAt) int { return int(offset(x) - offset(y)) })
	var groups [][]InstAt
	for i := 0; i+4 <= len(list); i += 4 {
		group := slices.Clone(list[i : i+4])
		slices.SortFunc(group, func(x, y InstAt) int { return int(x.PC) - int(y.PC) })
		groups = append(groups, group)
	}
	return groups
}

// integers are the instructions of a list but for loads and floating-point arithmetic.
func integers(f *cubin.File, list []InstAt) (out []InstAt) {
	for _, at := range list {
		p := f.Codes[at.Code].Insts[at.PC/sass.InstSize].Op.Properties()
		if !p.Floats() && !p.Loads(sass.SpaceGlobal) {
			out = append(out, at)
		}
	}
	return out
}

// layoutPairs are the changes.
func layoutPairs(t *testing.T, f *cubin.File) []layoutPair {
	const rows, columns = 512, 1024
	sums := func(kernel string, grid, block int) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: grid, block: block, buffers: []int{rows * columns, rows}, numbers: []uint32{columns}}
	}
	const words = 1 << 19
	const n = 128
	product := func(kernel string, y, threads int) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: n / 32, gridY: y, block: threads, buffers: []int{n * n, n * n, n * n}, numbers: []uint32{n}}
	}
	private := func(kernel string) func([]Loop, [][]InstAt) *Streams {
		return func([]Loop, [][]InstAt) *Streams {
			return &Streams{Private: instructions(t, f, kernel, opcode(sass.RED))}
		}
	}
	bins := func(kernel string, blocks int) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: blocks, block: 256, buffers: []int{words, 256}, numbers: []uint32{words}}
	}
	parts := func(kernel string, blocks int) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: blocks, block: 256, buffers: []int{2 * words, words / 256}, numbers: []uint32{2 * words}}
	}
	update := func(kernel string) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: words / 512, block: 256, buffers: []int{words / 2, words / 2, words / 2, words / 2}}
	}
	column := func(kernel string) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: 64, block: 128, buffers: []int{64 * 128 * 256, 256, 64 * 128}, numbers: []uint32{256, 64 * 128}}
	}
	state := func(kernel string) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: 64, block: 64, buffers: []int{64 * 64 * 32, 64 * 64}, numbers: []uint32{64}}
	}
	rowsOf := func(kernel string, grid int) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: grid, block: 256, buffers: []int{16 * 256 * 256, 16 * 256 * 256}, numbers: []uint32{256}}
	}
	stage := func(kernel string) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: 432, block: 256, buffers: []int{16 * 1024, 432 * 256}, numbers: []uint32{16}}
	}
	total := func(kernel string) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: words / 8 / 256, block: 256, buffers: []int{words / 8, 1}}
	}
	const side = 256
	squares := func(kernel string) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: side / 64, gridY: side / 64, block: 256, buffers: []int{side * side, side * side, side * side}, numbers: []uint32{side}}
	}
	barriers := instructions(t, f, "one_buffer", opcode(sass.BAR))
	const tall = 1024
	tallest := func(kernel string, blocks int) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: blocks, block: 128, buffers: []int{tall * 1024, 1024}, numbers: []uint32{tall, 1024}}
	}
	walk := func(kernel string) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: 108, block: 128, buffers: []int{108 * 128 * 128, 108 * 128}, numbers: []uint32{128, 108 * 128}}
	}
	const vectors = 1 << 22
	strided := func(kernel string) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: 432, block: 256, buffers: []int{vectors, 432 * 256}, numbers: []uint32{vectors}}
	}
	const tables = 256
	namedRows := func(kernel string) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: tables, block: 128, buffers: []int{1000 * 2048, tables * 4, tables * 4, tables * 2048}, numbers: []uint32{2048, 4}}
	}
	const trees = 2048
	tree := func(kernel string) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: trees, block: 256, buffers: []int{trees * 256, trees}}
	}
	matrix := func(kernel string) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: 16, gridY: 16, block: 256, buffers: []int{1 << 18, 1 << 18}, numbers: []uint32{512}}
	}
	small := func(kernel string, block int) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: words / 4 / block, block: block, buffers: []int{words / 4, words / 4}}
	}
	scaled := func(block int) layoutLaunch {
		const n = words / 4 / 768 * 768
		return layoutLaunch{kernel: "scale", grid: n / block, block: block, buffers: []int{n, n}, numbers: []uint32{0x3f000000}}
	}
	copies := func(kernel string) layoutLaunch {
		return layoutLaunch{kernel: kernel, grid: words / 1024, block: 256, buffers: []int{words, words}}
	}
	return []layoutPair{
		{name: "a warp a row", before: sums("sums_thread", rows/128, 128), after: sums("sums_warp", rows/4, 128), edit: transposed(32, 0)},
		{name: "a warp a row, by rounds of the source", before: sums("sums_thread", rows/128, 128), after: sums("sums_warp", rows/4, 128), edit: rolled(t, f, "sums_thread", 32)},
		{name: "a block a row", before: sums("sums_thread", rows/256, 256), after: sums("sums_block", rows, 256), edit: transposed(256, 256)},
		{name: "a warp a row, two loops", before: sums("moments_thread", rows/128, 128), after: sums("moments_warp", rows/4, 128), edit: transposed(32, 0)},
		{name: "four results of global memory", before: product("product", n/8, 256), after: product("product_four", n/8, 64), edit: merged(stream.Merge{Factor: 4, Axis: stream.Warps}), registers: 48},
		{name: "four results of a tile", before: product("tiled", n/32, 1024), after: product("tiled_four", n/32, 256), edit: merged(stream.Merge{Factor: 4, Axis: stream.Warps}), registers: 48},
		{name: "eight results of a tile", before: product("tiled", n/32, 1024), after: product("tiled_eight", n/32, 128), edit: merged(stream.Merge{Factor: 8, Axis: stream.Warps}), registers: 64},
		{name: "blocks merged", before: product("tiled", n/32, 1024), after: product("tiled_blocks", n/128, 1024), edit: merged(stream.Merge{Factor: 4, Axis: stream.GridY}), registers: 40, shared: 20480},
		{name: "columns in parts", before: tallest("columns", 8), after: tallest("columns_parts", 64), edit: func(loops []Loop, _ [][]InstAt) *Streams {
			return &Streams{Divide: &Divide{Loops: loops, Parts: 8, Contiguous: true, Atomic: true}}
		}},
		{name: "wide accesses", before: layoutLaunch{kernel: "scale", grid: words / 256, block: 256, buffers: []int{words, words}, numbers: []uint32{0x3f000000}},
			after: layoutLaunch{kernel: "scale_four", grid: words / 1024, block: 256, buffers: []int{words, words}, numbers: []uint32{0x3f000000}},
			edit:  merged(stream.Merge{Factor: 4, Axis: stream.GridThreads})},
		{name: "a tile", before: product("product", n/8, 256), after: product("product_tile", n/8, 256), edit: func(loops []Loop, loads [][]InstAt) *Streams {
			return &Streams{Tile: []LoopLoads{{Loads: slices.Concat(loads...), Loop: loops[0], Rounds: 8}}}
		}},
		// The compiler loads four words of a row of the tile at once.
		{name: "a tile and four results", before: product("product", n/8, 256), after: product("product_tile_four", n/8, 64), registers: 48, most: .25, edit: func(loops []Loop, loads [][]InstAt) *Streams {
			return &Streams{Tile: []LoopLoads{{Loads: slices.Concat(loads...), Loop: loops[0], Rounds: 8}}, Merge: []stream.Merge{{Factor: 4, Axis: stream.Warps}}}
		}},
		{name: "values passed in shared memory", before: tree("tree_global"), after: tree("tree_shared"), edit: func([]Loop, [][]InstAt) *Streams {
			return &Streams{Share: instructions(t, f, "tree_global", opcode(sass.LDG, sass.STG))}
		}},
		{name: "last steps by one warp", before: tree("tree_shared"), after: tree("tree_shuffles"), edit: func([]Loop, [][]InstAt) *Streams {
			return &Streams{Solo: instructions(t, f, "tree_shared", opcode(sass.BAR))}
		}},
		{name: "vectors", before: copies("copy_words"), after: copies("copy_vectors"), edit: func([]Loop, [][]InstAt) *Streams {
			return &Streams{Vectors: [][]InstAt{instructions(t, f, "copy_words", opcode(sass.LDG)),
				instructions(t, f, "copy_words", opcode(sass.STG))}}
		}},
		// The compiler orders what stands between the vectors anew as well.
		{name: "vectors of shared memory", before: state("state_words"), after: state("state_vectors"), most: .2, edit: func([]Loop, [][]InstAt) *Streams {
			return &Streams{Vectors: fours(t, f, instructions(t, f, "state_words", uniformLoad))}
		}},
		{name: "elements dealt out anew", before: stage("stage_words"), after: stage("stage_vectors"), edit: func([]Loop, [][]InstAt) *Streams {
			return &Streams{Deal: [][]InstAt{instructions(t, f, "stage_words", opcode(sass.LDG)), instructions(t, f, "stage_words", opcode(sass.STS))}}
		}},
		// The compiler loads for later rounds ahead of the scans.
		{name: "a scan of each warp", before: rowsOf("places", 16), after: rowsOf("places_warp", 512), most: .3, edit: func(loops []Loop, _ [][]InstAt) *Streams {
			return &Streams{Transpose: &Transpose{Loops: loops, Width: 32, Threads: 256, Scan: true}}
		}},
		{name: "windows are no vectors", before: copies("windows"), after: copies("windows"), edit: func([]Loop, [][]InstAt) *Streams {
			return &Streams{Vectors: [][]InstAt{instructions(t, f, "windows", opcode(sass.LDG))}}
		}},
		{name: "vectors in rounds", before: strided("strides"), after: strided("strides_four"), edit: func(loops []Loop, loads [][]InstAt) *Streams {
			return &Streams{Widen: []Widen{{Arrays: loads[:1], Loop: loops[0], Overhead: integers(f, loops[0].Body), Factor: 4}}}
		}},
		{name: "vectors in rounds of a nest", before: namedRows("named"), after: namedRows("named_four"), edit: func(loops []Loop, loads [][]InstAt) *Streams {
			nest, element, stores := loops[1], loads[1][2], instructions(t, f, "named", opcode(sass.STG))
			overhead := slices.DeleteFunc(slices.Clone(nest.Body), func(at InstAt) bool {
				return at == element || slices.Contains(slices.Concat(stores, instructions(t, f, "named", opcode(sass.FFMA))), at)
			})
			return &Streams{Widen: []Widen{{Arrays: [][]InstAt{{element}, stores[1:]}, Loop: nest, Overhead: overhead, Factor: 4, Nest: true}}}
		}},
		{name: "four elements of a row", before: layoutLaunch{kernel: "normalize", grid: words / 512, block: 512, buffers: []int{words, words}},
			after: layoutLaunch{kernel: "normalize_four", grid: words / 512, block: 128, buffers: []int{words, words}},
			edit:  merged(stream.Merge{Factor: 4, Axis: stream.Threads})},
		{name: "sums of several items", before: parts("block_sums", words/256), after: parts("block_sums_strided", words/256/5+1),
			edit: merged(stream.Merge{Factor: 5, Axis: stream.GridX, Folded: true})},
		{name: "counts of several items", before: bins("bins_item", words/256), after: bins("bins_shared", words/256/4),
			edit: merged(stream.Merge{Factor: 4, Axis: stream.GridX, Folded: true})},
		{name: "loads before stores", before: update("update"), after: update("update_loaded"), registers: 24, edit: func([]Loop, [][]InstAt) *Streams {
			return &Streams{Hoist: instructions(t, f, "update", opcode(sass.LDG))}
		}},
		{name: "sums in registers", before: column("column_memory"), after: column("column_restrict"), registers: 32,
			gone: instructions(t, f, "column_memory", opcode(sass.STG)), edit: func([]Loop, [][]InstAt) *Streams {
				return &Streams{Hoist: instructions(t, f, "column_memory", opcode(sass.LDG)), HoistWords: 12}
			}},
		{name: "bins of a block", before: bins("bins_global", 432), after: bins("bins_shared", 432), shared: 1024, edit: private("bins_global")},
		{name: "a sum of a block", before: total("total_threads"), after: total("total_blocks"), edit: private("total_threads")},
		{name: "two buffers", before: squares("one_buffer"), after: squares("two_buffers"), shared: 16384, gone: barriers[1:], edit: func(loops []Loop, loads [][]InstAt) *Streams {
			return &Streams{Prefetch: []LoopLoads{{Loads: loads[0], Loop: loops[0], Rounds: 1}}}
		}},
		{name: "rows stored through shared memory", before: matrix("transpose_rows"), after: matrix("transpose_rows_tile"), shared: 4224,
			coalesced: instructions(t, f, "transpose_rows", opcode(sass.STG)), edit: func([]Loop, [][]InstAt) *Streams {
				return &Streams{Exchange: [][]InstAt{instructions(t, f, "transpose_rows", opcode(sass.STG))}}
			}},
		{name: "columns loaded through shared memory", before: matrix("transpose_columns"), after: matrix("transpose_columns_tile"), shared: 4224,
			coalesced: instructions(t, f, "transpose_columns", opcode(sass.LDG)), edit: func([]Loop, [][]InstAt) *Streams {
				loads := instructions(t, f, "transpose_columns", opcode(sass.LDG))
				return &Streams{Hoist: loads, Exchange: [][]InstAt{loads}}
			}},
		{name: "blocks together", before: small("small_one", 64), after: small("small_four", 256), shared: 1024, edit: func([]Loop, [][]InstAt) *Streams {
			return &Streams{Gather: 4}
		}},
		{name: "blocks of parts of a warp together", before: scaled(8), after: scaled(256), edit: func([]Loop, [][]InstAt) *Streams {
			return &Streams{Gather: 32}
		}},
		{name: "blocks of a warp and a half together", before: scaled(48), after: scaled(384), edit: func([]Loop, [][]InstAt) *Streams {
			return &Streams{Gather: 8}
		}},
		{name: "loads ahead", before: walk("walk"), after: walk("walk_ahead"), edit: func(loops []Loop, loads [][]InstAt) *Streams {
			return &Streams{Prefetch: []LoopLoads{{Loads: loads[0], Loop: loops[0], Rounds: 2}}}
		}},
	}
}

// TestLayouts holds what-if runs against kernels in which their change is made.
func TestLayouts(t *testing.T) {
	f := readLayouts(t)
	for _, p := range layoutPairs(t, f) {
		t.Run(p.name, func(t *testing.T) {
			k, err := f.Kernel(p.before.kernel)
			if err != nil {
				t.Fatal(err)
			}
			loops, loads := loopsOf(t, f, k)
			changed, err := p.after.time(t, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			w := &WhatIf{Streams: p.edit(loops, loads), Registers: p.registers, Shared: p.shared, Suppositions: make(map[InstAt]Supposition)}
			for _, at := range p.gone {
				w.Suppositions[at] = Gone
			}
			for _, at := range p.coalesced {
				w.Suppositions[at] = Coalesced
			}
			tried, err := p.before.time(t, f, w)
			if err != nil {
				t.Fatal(err)
			}
			off := float64(tried.Cycles)/float64(changed.Cycles) - 1
			t.Logf("changed %d cycles, tried %d: %+.1f %%; instructions %d, %d", changed.Cycles, tried.Cycles, 100*off, changed.WarpInstructions, tried.WarpInstructions)
			if testing.Verbose() {
				before, err := p.before.time(t, f, nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("before %d cycles, instructions %d", before.Cycles, before.WarpInstructions)
			}
			if most := cmp.Or(p.most, 0.1); math.Abs(off) > most {
				t.Errorf("%+.1f %% off", 100*off)
			}
		})
	}
}
