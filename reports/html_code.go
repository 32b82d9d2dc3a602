package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// htmlCode makes the parts of the page that are about the code of a launch.
type htmlCode struct {
	id     string
	module *cubin.File
	launch *profiler.Launch
	found  *LaunchResult
	open   func(string) []byte
	total  float64
	most   float64                    // samples of the hottest instruction
	hot    map[place]*profiler.Totals // by instruction
	runs   map[place]int64            // executions
	defs   map[blamer.Node][]blamer.Blame
	files  []string // of the source
}

// An htmlSection is a code section, a row an instruction. The rows are in chunks: a browser lays out only those that are in view.
type htmlSection struct {
	Name    string
	Columns int // characters of the longest instruction
	Chunks  [][]htmlRow
}

// chunkRows is the number of rows that are laid out together.
const chunkRows = 128

// An htmlRow is an instruction. Key names its source line, Defs the rows that it waits for with their shares.
type htmlRow struct {
	ID, Key, Defs            string
	PC, Control, SASS        string
	Percent, Why, Executions string
	Heat                     float64 // 0 to 1
}

// An htmlSource is a source file.
type htmlSource struct {
	File    string
	Columns int // characters of the longest line
	Chunks  [][]htmlLine
}

func newHTMLSource(file string, rows []htmlLine) htmlSource {
	s := htmlSource{File: file, Chunks: slices.Collect(slices.Chunk(rows, chunkRows))}
	for i := range rows {
		s.Columns = max(s.Columns, utf8.RuneCountInString(rows[i].Text))
	}
	return s
}

type htmlLine struct {
	Key, Text, Percent, Why string // Key is also the row's id
	Twin                    string // the row of a comparison's other side
	Number                  int
	Heat                    float64
}

// An htmlScope is a function or a loop.
type htmlScope struct {
	ID, Name, Samples, Latency string
	Indent                     float64
}

type htmlAdvice struct {
	Optimizer, Speedup, Scope, Ratio, Interval, Overlaps string
	Suggestions                                          []string
	Hotspots                                             []htmlHotspot
	Open                                                 bool
}

type htmlHotspot struct {
	Share    string
	Def, Use htmlPlace
	Distance int
	Self     bool
}

type htmlPlace struct{ ID, Text, SASS string }

func newHTMLCode(id string, module *cubin.File, l *profiler.Launch, found *LaunchResult, open func(string) []byte) *htmlCode {
	c := &htmlCode{id: id, module: module, launch: l, found: found, open: open, hot: make(map[place]*profiler.Totals),
		runs: make(map[place]int64), defs: make(map[blamer.Node][]blamer.Blame)}
	for i := range l.Samples {
		s := &l.Samples[i]
		at := place{s.Code, s.PC}
		if c.hot[at] == nil {
			c.hot[at] = new(profiler.Totals)
		}
		c.hot[at].Add(s)
		c.total += float64(s.Count)
		c.most = max(c.most, float64(c.hot[at].Samples))
	}
	for _, k := range l.PCs {
		c.runs[place{k.Code, k.PC}] += k.Executions
	}
	if found.Blame != nil {
		for _, b := range found.Blame.Blames {
			if b.Def != b.Use {
				c.defs[b.Use] = append(c.defs[b.Use], b)
			}
		}
	}
	return c
}

// rowID names the row of an instruction.
func (c *htmlCode) rowID(code int, pc uint64) string { return fmt.Sprintf("%s-%d-%x", c.id, code, pc) }

// share is a number of samples as a share of all, empty for none.
func (c *htmlCode) share(samples float64) string {
	if samples == 0 || c.total == 0 {
		return ""
	}
	return percent(samples / c.total)
}

// why lists the stall reasons of samples.
func why(t *profiler.Totals) string {
	if t == nil || t.Samples == 0 {
		return ""
	}
	var parts []string
	for _, r := range t.Ranked() {
		parts = append(parts, fmt.Sprintf("%s %d", r, t.ByReason[r]))
	}
	return strings.Join(parts, ", ")
}

// sections are the code sections that were executed.
func (c *htmlCode) sections() []htmlSection {
	used := make(map[int]bool)
	for at := range c.hot {
		used[at.code] = true
	}
	for at := range c.runs {
		used[at.code] = true
	}
	var list []htmlSection
	for i, code := range c.module.Codes {
		if !used[i] {
			continue
		}
		var rows []htmlRow
		for k := range code.Insts {
			rows = append(rows, c.row(i, &code.Insts[k], k))
		}
		s := htmlSection{Name: code.Name, Chunks: slices.Collect(slices.Chunk(rows, chunkRows))}
		for k := range rows {
			s.Columns = max(s.Columns, len(rows[k].SASS))
		}
		list = append(list, s)
	}
	return list
}

func (c *htmlCode) row(code int, in *sass.Inst, index int) htmlRow {
	at := place{code, in.PC}
	t := c.hot[at]
	row := htmlRow{ID: c.rowID(code, in.PC), PC: fmt.Sprintf("%04x", in.PC), Control: in.Control.String(), SASS: strings.TrimSuffix(statement(in), " ;"), Why: why(t)}
	if frames := c.module.Codes[code].Frames(in.PC); len(frames) > 0 && frames[0].Line > 0 {
		row.Key = c.lineName(frames[0].File, frames[0].Line)
	}
	if t != nil {
		row.Percent = c.share(float64(t.Samples))
		row.Heat = heat(float64(t.Samples), c.most)
	}
	if n := c.runs[at]; n > 0 {
		row.Executions = thousands(n)
	}
	row.Defs = c.waitsFor(blamer.Node{Code: code, Inst: index})
	return row
}

// heat spreads shares so that small ones can be told apart.
func heat(samples, most float64) float64 {
	if most == 0 {
		return 0
	}
	return round(math.Sqrt(samples/most), 3)
}

// waitsFor lists the rows that an instruction waits for, the most blamed first.
func (c *htmlCode) waitsFor(use blamer.Node) string {
	var blames []blamer.Blame
	for _, b := range c.defs[use] {
		i := slices.IndexFunc(blames, func(x blamer.Blame) bool { return x.Def == b.Def })
		if i < 0 {
			blames = append(blames, b)
		} else {
			blames[i].Count += b.Count
		}
	}
	slices.SortStableFunc(blames, func(x, y blamer.Blame) int { return cmp.Compare(y.Count, x.Count) })
	var parts []string
	for _, b := range blames {
		pc := c.module.Codes[b.Def.Code].Insts[b.Def.Inst].PC
		parts = append(parts, c.rowID(b.Def.Code, pc)+"="+c.share(b.Count))
	}
	return strings.Join(parts, " ")
}

// lineName names a source line in the page, by the number of its file.
func (c *htmlCode) lineName(file string, line int) string {
	i := slices.Index(c.files, file)
	if i < 0 {
		i = len(c.files)
		c.files = append(c.files, file)
	}
	return fmt.Sprintf("%s-s%d-%d", c.id, i, line)
}

// sources are the source files with samples whose text is at hand.
func (c *htmlCode) sources() []htmlSource {
	byFile := make(map[string]map[int]*profiler.Totals)
	var files []string
	most := 0.0
	for _, h := range hotLines(c.module, c.launch, c.found.Blame) {
		if h.at.Line == 0 {
			continue
		}
		if byFile[h.at.File] == nil {
			byFile[h.at.File] = make(map[int]*profiler.Totals)
			files = append(files, h.at.File)
		}
		t := h.totals
		byFile[h.at.File][h.at.Line] = sumTotals(byFile[h.at.File][h.at.Line], &t)
		most = max(most, float64(byFile[h.at.File][h.at.Line].Samples))
	}
	var list []htmlSource
	for _, file := range files {
		lines := sourceLines(c.open, file)
		if lines == nil {
			continue
		}
		var rows []htmlLine
		for n, text := range lines {
			rows = append(rows, c.sourceLine(file, n+1, text, byFile[file][n+1], most))
		}
		list = append(list, newHTMLSource(file, rows))
	}
	return list
}

// sumTotals adds the samples of one function's copy of a line to those of others.
func sumTotals(sum, t *profiler.Totals) *profiler.Totals {
	if sum == nil {
		return t
	}
	sum.Samples += t.Samples
	sum.Latency += t.Latency
	sum.Active += t.Active
	for r := range t.ByReason {
		sum.ByReason[r] += t.ByReason[r]
		sum.LatencyByReason[r] += t.LatencyByReason[r]
	}
	return sum
}

func (c *htmlCode) sourceLine(file string, number int, text string, t *profiler.Totals, most float64) htmlLine {
	l := htmlLine{Key: c.lineName(file, number), Text: strings.ReplaceAll(text, "\t", "    "), Number: number, Why: why(t)}
	if t != nil {
		l.Percent, l.Heat = c.share(float64(t.Samples)), heat(float64(t.Samples), most)
	}
	return l
}

// advice is the advice with links into the code.
func (c *htmlCode) advice(totals *profiler.Totals) []htmlAdvice {
	var list []htmlAdvice
	for i := range c.found.Advice {
		a := &c.found.Advice[i]
		h := htmlAdvice{Optimizer: a.Optimizer, Speedup: fmt.Sprintf("%.2f×", a.Speedup), Scope: scopeText(&a.Match.Scope), Suggestions: a.Match.Suggestions,
			Ratio: percent(a.Match.Samples / float64(max(1, totals.Samples))), Overlaps: strings.Join(a.Overlaps, ", "), Open: i == 0}
		if a.Interval[1] > 0 {
			h.Interval = fmt.Sprintf("nine in ten such estimates come out between %.2f× and %.2f×", a.Interval[0], a.Interval[1])
		}
		for k := range a.Match.Hotspots {
			s := &a.Match.Hotspots[k]
			h.Hotspots = append(h.Hotspots, htmlHotspot{Share: percent(s.Share), Def: c.place(s.Def), Use: c.place(s.Use), Distance: s.Distance, Self: s.Def == s.Use})
		}
		list = append(list, h)
	}
	return list
}

func (c *htmlCode) place(n blamer.Node) htmlPlace {
	at := locateNode(c.module, n)
	return htmlPlace{ID: c.rowID(n.Code, at.PC), Text: at.place(), SASS: at.SASS}
}

// tree lists the functions with samples and the loops in them.
func (c *htmlCode) tree() []htmlScope {
	if c.found.Blame == nil {
		return nil
	}
	var list []htmlScope
	for code, g := range c.found.Blame.Graphs {
		if g == nil {
			continue
		}
		for _, f := range g.Funcs {
			list = c.addScope(list, code, g, f.Blocks, f.Function.Demangled, g.Blocks[f.Entry].First, 0)
			for _, l := range g.Loops {
				if g.Funcs[l.Func] == f {
					first := g.Blocks[l.Header].First
					name := "loop"
					if at := Locate(c.module, code, c.module.Codes[code].Insts[first].PC); at.Line > 0 {
						name = "loop at " + at.place()
					}
					list = c.addScope(list, code, g, l.Blocks, name, first, l.Depth)
				}
			}
		}
	}
	return list
}

// addScope adds a scope that has samples.
func (c *htmlCode) addScope(list []htmlScope, code int, g *cfg.Graph, blocks []int, name string, first, depth int) []htmlScope {
	var samples, latency float64
	insts := c.module.Codes[code].Insts
	for _, b := range blocks {
		for i := g.Blocks[b].First; i <= g.Blocks[b].Last; i++ {
			if t := c.hot[place{code, insts[i].PC}]; t != nil {
				samples += float64(t.Samples)
				latency += float64(t.Latency)
			}
		}
	}
	if samples == 0 {
		return list
	}
	return append(list, htmlScope{ID: c.rowID(code, insts[first].PC), Name: name, Samples: c.share(samples), Latency: c.share(latency), Indent: 1.2 * float64(depth)})
}
