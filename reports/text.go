package reports

import (
	"fmt"
	"io"
	"strings"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/emu/stall"
	"gpa/profiler"
)

// textWidth is the width of text that goes to no terminal, and the most that a paragraph takes on one.
const textWidth = 100

// TextOptions choose what the advice text holds. The zero value fits the advice on a typical kernel on one screen.
type TextOptions struct {
	Top     int // pieces of advice told in full for a kernel; 0 for 3
	Kernels int // kernels told in full, by their share of the cycles; 0 for 3
	// Source returns the text of a source file of the line table; nil, or a nil result, where there is none.
	Source func(file string) []byte
	Style  Style
}

// Text writes the result for people, in the shape of Figure 8 of the GPA paper: for each kernel what it spends its time
// on, then the changes worth making, the best first, with their estimated speedups, what to do and the hotspots: the
// instruction that others wait for (def), the one that waits (use) and their distance. It is plain ASCII in the width of the
// style.
func Text(w io.Writer, r *Result, o TextOptions) error {
	t := &textReport{result: r, options: o, style: o.Style, sources: sources{open: o.Source}}
	if t.options.Top == 0 {
		t.options.Top = 3
	}
	if t.options.Kernels == 0 {
		t.options.Kernels = 3
	}
	if err := t.write(); err != nil {
		return err
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

// A textReport is a text in the making.
type textReport struct {
	result  *Result
	options TextOptions
	style   Style
	sources sources
	out     strings.Builder
}

func (t *textReport) write() error {
	kernels := t.result.kernels()
	if len(t.result.Profile.Launches) > 1 {
		if err := kernelTable(kernels, t.style).Render(&t.out); err != nil {
			return err
		}
	}
	for i, k := range kernels {
		if i >= t.options.Kernels && !k.faulted {
			continue
		}
		if t.out.Len() > 0 {
			t.line("")
		}
		if err := t.launch(k.shown); err != nil {
			return err
		}
	}
	t.checks()
	return nil
}

// line writes a line cut to the text's width.
func (t *textReport) line(format string, args ...any) { t.inked(plainInk, format, args...) }

// inked writes a line with the attribute of an ink.
func (t *textReport) inked(i ink, format string, args ...any) {
	t.out.WriteString(t.style.paint(i, cut(strings.TrimRight(plain(fmt.Sprintf(format, args...)), " "), t.style.width())))
	t.out.WriteByte('\n')
}

// paragraph writes a text wrapped, the first line after bullet and the rest below its text.
func (t *textReport) paragraph(bullet, text string) {
	t.inkedParagraph(plainInk, bullet, text)
}

func (t *textReport) inkedParagraph(i ink, bullet, text string) {
	for _, line := range Wrap(plain(text), min(t.style.width(), textWidth)-len(bullet)) {
		t.inked(i, "%s%s", bullet, line)
		bullet = strings.Repeat(" ", len(bullet))
	}
}

// launch tells all about one launch.
func (t *textReport) launch(i int) error {
	l, found, module := t.result.launch(i)
	totals := l.Totals()
	t.header(module, l, found, &totals)
	t.fault(module, l)
	if totals.Samples == 0 {
		t.warnings(found)
		if !l.Lacks(profiler.MissingSamples) {
			t.line("  no samples: the launch ran without timing or ended before the first period")
		}
		return nil
	}
	if err := t.hotLines(module, l, found.Blame, &totals); err != nil {
		return err
	}
	t.warnings(found)
	t.advice(module, found, &totals)
	return nil
}

// header says what ran, how long, and what its schedulers did.
func (t *textReport) header(module *cubin.File, l *profiler.Launch, found *LaunchResult, totals *profiler.Totals) {
	f := &l.Facts
	gpu := archName(module)
	if l.GPU != "" {
		gpu = l.GPU + " (" + gpu + ")"
	}
	if board := l.Board(); board != "" {
		gpu = board + ", taken for " + gpu
	}
	t.inked(boldInk, "%s on %s", KernelName(module, l.Kernel), gpu)
	if text := headline(module, l, found, totals); text != "" {
		t.paragraph("  ", text)
	}
	t.line("  grid %s, block %s, %s a thread, %s of shared memory a block", dims(l.Grid), dims(l.Block),
		count(int64(f.Registers), "register"), count(int64(f.SharedStatic)+int64(f.SharedDynamic), "byte"))
	if f.Cycles > 0 {
		t.line("  %s%s%s", count(f.Cycles, "cycle"), clockTime(f), extrapolation(f))
	}
	if text := equalLaunches(f); text != "" {
		t.paragraph("  ", text)
	}
	if f.WarpInstructions > 0 {
		t.line("  %s", instructions(l))
	}
	if text := bandwidthText(l); text != "" {
		t.paragraph("  memory: ", text)
	}
	if f.WarpsPerScheduler > 0 {
		t.paragraph("  occupancy: ", fmt.Sprintf("%s of %d warps a scheduler%s, %s an SM%s", short(f.WarpsPerScheduler), f.MaxWarpsPerScheduler,
			achieved(f), count(int64(f.BlocksPerSM), "block"), limitedBy(f.OccupancyLimit)))
	}
	t.missing(l)
	if totals.Samples == 0 {
		return
	}
	t.line("  %s%s: %s", count(totals.Samples, "sample"), every(l.Period), ratios(l, totals))
	t.paragraph("  stalls: ", topReasons(totals, 6))
	if r, ok := topStall(totals); ok {
		t.paragraph("    ", r.String()+": "+meanings[r])
	}
}

// missing says what the profile lacks, and what cannot be told for it.
func (t *textReport) missing(l *profiler.Launch) {
	if len(l.Missing) > 0 {
		t.line("  the profile lacks:")
	}
	for _, what := range lacks(l) {
		t.paragraph("    ", what)
	}
}

func every(period int) string {
	if period == 0 {
		return ""
	}
	return ", one an SM every " + count(int64(period), "cycle")
}

func clockTime(f *profiler.Facts) string {
	if f.Seconds() == 0 {
		return ""
	}
	return fmt.Sprintf(", %s at %s MHz", duration(f.Seconds()), short(f.ClockHz/1e6))
}

// equalLaunches says that the launch stands for several, or was not run itself.
func equalLaunches(f *profiler.Facts) string {
	const why = "began with the same memory as an earlier one: it is that one again"
	switch {
	case f.Alike > 0:
		return fmt.Sprintf("%d launches: %d were not timed, as each had its shape and arguments and executed as many instructions", f.Count(), f.Alike)
	case f.Repeats == 0 && f.Untimed == 0:
		return ""
	case f.Repeats == 0:
		return "not run: it " + why
	case f.Untimed == 0:
		return fmt.Sprintf("%d launches in a row, equal in every figure", f.Count())
	}
	return fmt.Sprintf("%d launches in a row, equal in every figure; %d of them not run, as each %s", f.Count(), f.Untimed, why)
}

func extrapolation(f *profiler.Facts) string {
	switch {
	case !f.Extrapolated:
		return ""
	case f.TimedBlocks > 0:
		return fmt.Sprintf(" (extrapolated from the work of %s, within %s)", count(int64(f.TimedBlocks), "block"), percent(f.ErrorBound))
	case f.ErrorBound > 0:
		return fmt.Sprintf(" (extrapolated, within %s)", percent(f.ErrorBound))
	}
	return " (extrapolated)"
}

// achieved writes how many warps a scheduler held on average, where that is known.
func achieved(f *profiler.Facts) string {
	if f.WarpActiveCycles == 0 {
		return ""
	}
	return fmt.Sprintf(", %.1f on average", f.AchievedWarpsPerScheduler())
}

func limitedBy(limit string) string {
	switch limit {
	case "":
		return ""
	case "shared":
		return ", limited by shared memory"
	case "grid":
		return ", limited by the grid"
	}
	return ", limited by " + limit
}

// meanings says in words what a warp waits for.
var meanings = [stall.NumReasons]string{
	stall.NotSelected:      "could issue, but its scheduler issued another warp",
	stall.Wait:             "waits the fixed time that the instruction before takes",
	stall.LongScoreboard:   "waits for global, local or texture memory",
	stall.ShortScoreboard:  "waits for shared memory, a special function, a conversion or a shuffle",
	stall.Barrier:          "waits for the other warps of its block at a barrier",
	stall.Membar:           "waits at a memory barrier for earlier stores",
	stall.NoInstructions:   "waits for instructions to be fetched",
	stall.BranchResolving:  "waits to learn where a branch goes",
	stall.ImcMiss:          "waits for a constant that the constant cache did not hold",
	stall.MathPipeThrottle: "waits because the arithmetic unit is busy",
	stall.MioThrottle:      "waits because the queue to shared memory and special functions is full",
	stall.LgThrottle:       "waits because the queue to global and local memory is full",
	stall.TexThrottle:      "waits because the queue to texture memory is full",
	stall.GMMA:             "waits for matrix products of the warpgroup",
	stall.Drain:            "has ended and waits for its stores",
	stall.DispatchStall:    "is held back by the dispatcher",
	stall.Sleeping:         "sleeps, or all of its threads have yielded",
	stall.Misc:             "waits for another reason",
}

// topStall returns the most frequent stall reason; false where nothing stalled.
func topStall(totals *profiler.Totals) (stall.Reason, bool) {
	for _, r := range totals.Ranked() {
		if r != stall.Selected {
			return r, true
		}
	}
	return stall.Selected, false
}

// topReasons lists the most frequent stall reasons with their shares of all samples.
func topReasons(totals *profiler.Totals, n int) string {
	var parts []string
	for _, r := range totals.Ranked() {
		if r == stall.Selected {
			continue
		}
		if len(parts) == n {
			break
		}
		parts = append(parts, r.String()+" "+percent(float64(totals.ByReason[r])/float64(totals.Samples)))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func (t *textReport) fault(module *cubin.File, l *profiler.Launch) {
	if l.Fault == nil {
		return
	}
	t.inkedParagraph(badInk, "  FAULT: ", l.Fault.Message)
	at := Locate(module, l.Fault.Code, l.Fault.PC)
	t.line("    at %s  %s", at.instruction(0), at.inlining())
	t.source("    ", at)
}

// source writes the source line of a location where its text is at hand.
func (t *textReport) source(indent string, at Location) {
	if text := t.sources.line(at.File, at.Line); text != "" {
		t.inked(dimInk, "%s| %s", indent, text)
	}
}

// shownLines is the number of source lines in the list of the hottest.
const shownLines = 3

// hotLines lists the source lines with the most samples, the instructions of code whose lines are unknown.
func (t *textReport) hotLines(module *cubin.File, l *profiler.Launch, blame *blamer.Result, totals *profiler.Totals) error {
	table := Table{
		Columns: []Column{
			{Title: "hottest lines", Width: 30, Place: true}, {Title: "samples", Right: true}, {Title: "mostly"}, {Title: "source", Width: 34},
		},
		Indent: "  ",
		Style:  t.style,
	}
	lines := hotLines(module, l, blame)
	lines = lines[:min(len(lines), shownLines)]
	unknown := len(lines) > 0 && lines[0].at.Line == 0
	if unknown {
		table.Columns[0].Title, table.Columns[3].Title = "hottest instructions", "instruction"
	}
	for _, h := range lines {
		main, text := h.totals.Ranked()[0], t.sources.line(h.at.File, h.at.Line)
		if unknown {
			text = h.at.SASS
		}
		table.Add(h.at.place(), percent(float64(h.totals.Samples)/float64(totals.Samples)),
			main.String()+" "+percent(float64(h.totals.ByReason[main])/float64(h.totals.Samples)),
			text)
	}
	if err := table.Render(&t.out); err != nil {
		return err
	}
	if unknown {
		t.line("  the cubin has no source lines there: nvcc -lineinfo adds them")
	}
	return nil
}

// checks tells whether the buffers hold what was expected of them.
func (t *textReport) checks() {
	if len(t.result.Checks) == 0 {
		return
	}
	t.line("")
	for _, c := range t.result.Checks {
		switch {
		case c.OK:
			t.inked(goodInk, "%s: as expected", c.Buffer)
		case c.First != nil:
			t.inked(badInk, "%s: WRONG: %s, the first at index %d: got %v, want %v", c.Buffer,
				count(int64(c.Mismatches), "value"), c.First.Index, c.First.Got, c.First.Want)
		default:
			t.inked(badInk, "%s: WRONG", c.Buffer)
		}
	}
}
