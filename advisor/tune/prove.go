package tune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gpa"
	"gpa/advisor/patch"
	"gpa/cubin"
	"gpa/cubin/compile"
	"gpa/emu/check"
	"gpa/emu/launch"
	"gpa/profiler"
	"gpa/reports"
)

// A proving finds out what patches of a kernel's source bring. Speedups are against the unchanged source as the compiler makes it,
// outputs against the kernel that was given.
type proving struct {
	options   Options
	target    *gpa.Target
	kernel    string // symbol
	source    kernelSource
	folder    string // for what is compiled
	original  *launch.Session
	given     int64 // cycles of the kernel in the cubin that was given
	unchanged *variant
	findings  map[check.Kind]bool // kinds of errors that the unchanged kernel has, nil before that is known
	compiled  int
	ran       int
}

// A kernelSource is the file that defines a kernel.
type kernelSource struct {
	name   string // without folders, as the line table has it
	folder string // where it lies, "" for none of the file system
	text   []byte
}

// A variation is a source, how it is compiled, and the shape of the launches of the kernel.
type variation struct {
	text        []byte
	flags       []string
	grid, block [3]int // zero for the launch file's
}

// A variant is a variation that was compiled, and what running it has shown.
type variant struct {
	variation
	target *gpa.Target
	code   string // what tells it from others: code, constants and shape
	ran    *gpa.Result
	cycles int64 // of the kernel
	total  int64 // of all launches
}

// newProving finds the source of the kernel that takes most of the time, and prepares a folder to compile in. The caller removes that.
func newProving(result *gpa.Result, o Options) (*proving, error) {
	if result.Session() == nil {
		return nil, gpa.ErrNotRun
	}
	p := &proving{options: o, target: result.Target, original: result.Session()}
	p.options.Run.Stdout = nil
	if err := p.choose(&result.Result, o.Source); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "gpa-prove-")
	if err != nil {
		return nil, err
	}
	p.folder = folder
	return p, nil
}

// choose takes the costliest kernel whose source is at hand.
func (p *proving) choose(result *reports.Result, sourceFile string) error {
	var missed []string
	for _, k := range result.Costliest() {
		l := result.Profile.Launches[k]
		name := definedIn(p.target.Module, l.Kernel)
		switch source, err := p.find(name, sourceFile); {
		case err != nil:
			return err
		case source.text != nil:
			p.kernel, p.source = l.Kernel, source
			p.given, _ = cyclesOf(result.Profile.Launches, l.Kernel)
			return nil
		case name == "":
			missed = append(missed, "that of "+reports.KernelName(p.target.Module, l.Kernel)+", which has no line table")
		default:
			missed = append(missed, path.Base(name))
		}
	}
	if len(missed) == 0 {
		return errors.New("no kernel ran to its end: there is nothing to prove")
	}
	return fmt.Errorf("no CUDA source to change: %s not found beside the kernel (compile with -lineinfo, or --source FILE)", strings.Join(missed, ", "))
}

// headers are the ends of the names of files that are not compiled by themselves.
var headers = []string{".h", ".cuh", ".hpp", ".hh", ".inl"}

// find returns the source file of a name in a line table. --source may name it itself.
func (p *proving) find(name, sourceFile string) (kernelSource, error) {
	source := kernelSource{name: path.Base(name)}
	if info, err := os.Stat(sourceFile); err == nil && info.Mode().IsRegular() {
		text, err := os.ReadFile(sourceFile)
		if name == "" || slices.Contains(headers, path.Ext(source.name)) {
			source.name = filepath.Base(sourceFile)
		}
		source.text, source.folder = text, filepath.Dir(sourceFile)
		return source, err
	}
	if name == "" || slices.Contains(headers, path.Ext(source.name)) {
		return kernelSource{}, nil
	}
	source.folder, source.text = p.target.Sources.Before(sourceFile).Locate(name)
	return source, nil
}

// definedIn is the source file that most instructions of a kernel come from, outside of what is inlined; "" without lines.
func definedIn(m *cubin.File, kernel string) string {
	k, err := m.Kernel(kernel)
	if err != nil {
		return ""
	}
	count, best := make(map[string]int), ""
	for i := range k.Code.Insts {
		frames := k.Code.Frames(k.Code.Insts[i].PC)
		if len(frames) == 0 {
			continue
		}
		file := frames[len(frames)-1].File
		if count[file]++; file != "" && count[file] > count[best] {
			best = file
		}
	}
	return best
}

// cyclesOf adds up the cycles of a kernel's launches and those of all.
func cyclesOf(launches []*profiler.Launch, kernel string) (own, all int64) {
	for _, l := range launches {
		n := l.Facts.Count() * l.Facts.Cycles
		all += n
		if l.Kernel == kernel {
			own += n
		}
	}
	return own, all
}

// close removes what was compiled.
func (p *proving) close() { os.RemoveAll(p.folder) }

// build compiles a variation.
func (p *proving) build(ctx context.Context, v variation) (*variant, error) {
	if err := os.WriteFile(filepath.Join(p.folder, p.source.name), v.text, 0o600); err != nil {
		return nil, err
	}
	flags := slices.Clone(v.flags)
	if p.source.folder != "" { // of what the source includes
		folder, err := filepath.Abs(p.source.folder)
		if err != nil {
			return nil, err
		}
		flags = append(flags, "-I"+folder)
	}
	p.compiled++
	module, err := p.options.Compiler.Compile(ctx, p.folder, p.source.name, p.target.Module.Arch, flags)
	if err != nil {
		return nil, err
	}
	target := *p.target
	target.Module, target.Sources = module, gpa.NewSources(p.folder)
	if v.grid != [3]int{} {
		target.File = p.reshaped(v.grid, v.block)
	}
	return &variant{variation: v, target: &target, code: codeOf(module) + fmt.Sprint(v.grid, v.block)}, nil
}

// reshaped is the launch file with another shape of the kernel's launches that are as large as its largest.
func (p *proving) reshaped(grid, block [3]int) *launch.File {
	file := *p.target.File
	file.Launches = slices.Clone(file.Launches)
	for i := range file.Launches {
		l := &file.Launches[i]
		if k, err := p.target.Module.FindKernel(l.Kernel); err == nil && k.Name == p.kernel && threadsOf(l.Grid, l.Block) == threadsOf(grid, block) {
			l.Grid, l.Block = grid, block
		}
	}
	return &file
}

func threadsOf(grid, block [3]int) int {
	n := 1
	for i := range grid {
		n *= grid[i] * block[i]
	}
	return n
}

// codeOf is what decides how a module runs: machine code, constants, and what its kernels take.
func codeOf(m *cubin.File) string {
	var code strings.Builder
	for _, c := range m.Codes {
		fmt.Fprintf(&code, "%s %q\n", c.Name, m.SectionData(c.Section))
	}
	for _, k := range m.Kernels {
		fmt.Fprintf(&code, "%s %d %d %d %d %q\n", k.Name, k.Registers, k.SharedStatic, k.LocalFrame, k.Barriers, k.ConstBank2)
	}
	for _, b := range m.Banks {
		fmt.Fprintf(&code, "%q\n", b.Data)
	}
	return code.String()
}

// run profiles a version. fails is why it does not run.
func (p *proving) run(ctx context.Context, v *variant) (fails, err error) {
	p.ran++
	v.ran, err = v.target.Profile(ctx, p.options.Run)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return err, nil
	}
	for _, l := range v.ran.Profile.Launches {
		if l.Fault != nil {
			return fmt.Errorf("kernel %s: %s", l.Kernel, l.Fault.Kind), nil
		}
	}
	v.cycles, v.total = cyclesOf(v.ran.Profile.Launches, p.kernel)
	if v.cycles == 0 {
		return fmt.Errorf("there is no kernel %s", p.kernel), nil
	}
	return nil, nil
}

// mostInstructions is how many times the instructions of the longest launch each launch of a patched kernel may execute: it may never end.
const mostInstructions = 4

// base builds and runs the source as it is.
func (p *proving) base(ctx context.Context) (*variant, error) {
	v, err := p.build(ctx, variation{text: p.source.text})
	if err != nil {
		return nil, fmt.Errorf("%s as it is: %w", p.source.name, err)
	}
	fails, err := p.run(ctx, v)
	if err == nil && fails != nil {
		err = fmt.Errorf("%s as it is does not run: %w", p.source.name, fails)
	}
	if err != nil {
		return nil, err
	}
	how, why, err := p.compare(v, true) // another compiler may round in other places
	if err == nil && how == "" {
		err = fmt.Errorf("%s as it is does not compute what the given cubin does: %s; is it its source?", p.source.name, why)
	}
	if err != nil {
		return nil, err
	}
	longest := int64(0)
	for _, l := range v.ran.Profile.Launches {
		longest = max(longest, l.Facts.WarpInstructions)
	}
	p.options.Run.MaxInstructions = mostInstructions*longest + 1
	p.unchanged = v
	return v, nil
}

// known are the kinds of errors that gpa check finds in the unchanged kernel.
func (p *proving) known(ctx context.Context) (map[check.Kind]bool, error) {
	if p.findings != nil {
		return p.findings, nil
	}
	found, err := p.check(ctx, p.unchanged)
	if err != nil {
		return nil, err
	}
	p.findings = make(map[check.Kind]bool)
	for _, x := range found {
		p.findings[x.Kind] = true
	}
	return p.findings, nil
}

// Tolerances of outputs of which the launch file expects nothing, where a patch changes how results are rounded.
const (
	roundingRtol = 1e-4
	roundingAtol = 1e-6
)

// compare compares all buffers with what the given kernel left. how says in what sense they are equal, "" where they differ, which why
// tells.
func (p *proving) compare(v *variant, rounds bool) (how, why string, err error) {
	exact := func(string, launch.Elem) launch.Tolerance { return launch.Tolerance{} }
	checks, err := v.ran.Session().AllAgainst(p.original, exact)
	if err != nil {
		return "", err.Error(), nil
	}
	if len(checks) == 0 {
		return "", "the launch file names no buffer", nil
	}
	unequal := different(checks)
	if unequal == nil {
		return "outputs equal", "", nil
	}
	var within []string
	checks, err = v.ran.Session().AllAgainst(p.original, func(name string, e launch.Elem) launch.Tolerance {
		t := p.tolerance(name, e, rounds)
		if slices.Contains(unequal, name) {
			within = append(within, fmt.Sprintf("%s within rtol %g, atol %g", name, t.Rtol, t.Atol))
		}
		return t
	})
	if err != nil {
		return "", "", err
	}
	for i := range checks {
		if c := &checks[i]; !c.OK() {
			return "", fmt.Sprintf("%d of %d elements of %s differ, the first at %d: %v instead of %v", c.Mismatches, c.Elements, c.Buffer, c.First.Index, c.First.Got, c.First.Want), nil
		}
	}
	return "outputs equal: " + strings.Join(within, "; "), "", nil
}

// different lists the buffers that are not equal.
func different(checks []launch.Check) (names []string) {
	for i := range checks {
		if !checks[i].OK() {
			names = append(names, checks[i].Buffer)
		}
	}
	return names
}

// tolerance is within what a buffer has to be equal.
func (p *proving) tolerance(name string, e launch.Elem, rounds bool) launch.Tolerance {
	if p.options.Tolerance != nil {
		return *p.options.Tolerance
	}
	for _, x := range p.target.File.Expect {
		if x.Name == name {
			return launch.Tolerance{Rtol: x.Rtol, Atol: x.Atol}
		}
	}
	if rounds && e.IsFloat() {
		return launch.Tolerance{Rtol: roundingRtol, Atol: roundingAtol}
	}
	return launch.Tolerance{}
}

// check lists the errors that gpa check finds in a version.
func (p *proving) check(ctx context.Context, v *variant) ([]*check.Finding, error) {
	found, err := v.target.Check(ctx, p.options.Run, gpa.CheckOptions{})
	return slices.DeleteFunc(found, func(x *check.Finding) bool { return x.Kind.Level() != check.Error }), err
}

// worthProving is the least speedup of a patch that is recommended.
const worthProving = 1.02

// prove compiles and runs a candidate on top of a version, and tells what came out. The version is nil where it is not proved.
func (p *proving) prove(ctx context.Context, on *variant, c *patch.Candidate) (*reports.Patch, *variant, error) {
	out := &reports.Patch{Change: c.Name, Optimizer: c.Advice.Optimizer, Estimated: c.Advice.Speedup, Tried: c.Advice.Tried, Flags: c.Flags}
	next := on.variation
	next.flags = append(slices.Clone(on.flags), c.Flags...)
	if c.Text != nil {
		next.text = c.Text
		out.Diff = patch.Diff(p.source.name, p.source.name, on.text, c.Text)
	}
	if c.Grid != [3]int{} {
		next.grid, next.block = c.Grid, c.Block
		out.Grid, out.Block = c.Grid[:], c.Block[:]
	}
	if buffer := p.shared(); c.Promises && buffer != "" {
		out.Outcome, out.Why = reports.Untrue, fmt.Sprintf("promises that no pointers overlap, and two are of buffer %s", buffer)
		return out, nil, nil
	}
	v, err := p.build(ctx, next)
	switch {
	case compile.Refused(err):
		out.Outcome, out.Why = reports.NotCompiled, err.Error()
		return out, nil, nil
	case err != nil:
		return nil, nil, err
	case v.code == on.code:
		out.Outcome = reports.SameCode
		return out, nil, nil
	}
	fails, err := p.run(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	if fails != nil {
		out.Outcome, out.Why = reports.NotRun, reports.Clipped(reports.OneLine(fails.Error()))
		return out, nil, nil
	}
	err = p.judge(ctx, on, v, c.Rounds, out)
	if err != nil || out.Outcome != reports.Proved {
		return out, nil, err
	}
	return out, v, nil
}

// shared is a buffer that a launch of the kernel has two pointers to, "" for none.
func (p *proving) shared() string {
	for i := range p.target.File.Launches {
		l := &p.target.File.Launches[i]
		if k, err := p.target.Module.FindKernel(l.Kernel); err != nil || k.Name != p.kernel {
			continue
		}
		for j, a := range l.Args {
			if a.Buffer != "" && slices.ContainsFunc(l.Args[:j], func(b launch.Arg) bool { return b.Buffer == a.Buffer }) {
				return a.Buffer
			}
		}
	}
	return ""
}

// judge compares a version that ran with the one that it was made from.
func (p *proving) judge(ctx context.Context, on, v *variant, rounds bool, out *reports.Patch) (err error) {
	out.Cycles, out.Speedup = v.cycles, float64(on.cycles)/float64(v.cycles)
	if out.Outputs, out.Why, err = p.compare(v, rounds); err != nil {
		return err
	}
	switch {
	case out.Outputs == "":
		out.Outcome = reports.OutputsDiffer
		return nil
	case out.Speedup <= 1/worthProving:
		out.Outcome = reports.Slower
		return nil
	case out.Speedup < worthProving || v.total >= on.total:
		out.Outcome = reports.NoGain
		return nil
	}
	found, err := p.check(ctx, v)
	if err != nil || len(found) == 0 {
		out.Outcome = reports.Proved
		return err
	}
	known, err := p.known(ctx)
	if err != nil {
		return err
	}
	out.Outcome = reports.Proved
	for _, x := range found {
		if !known[x.Kind] {
			out.Outcome, out.Why = reports.NewFinding, fmt.Sprintf("%s in kernel %s", x.Kind, x.Kernel)
			break
		}
	}
	return nil
}

// round proves the patches for the advice on a version and returns the best one's version, nil where none is proved. Where ctx ends,
// the proof has what was found until then.
func (p *proving) round(ctx context.Context, on *variant, result *reports.Result, proof *reports.Proof) (best *variant, by *reports.Patch, err error) {
	groups := p.candidates(on, result)
	left := p.options.patches()
	for _, group := range groups {
		for i := range group {
			if left == 0 {
				proof.Skipped++
				continue
			}
			left--
			end := p.stage("proving " + group[i].Name)
			out, v, err := p.prove(ctx, on, &group[i])
			end()
			proof.Versions, proof.Runs = p.compiled, p.ran
			if err != nil {
				return best, by, err
			}
			proof.Patches = append(proof.Patches, out)
			if v != nil && (best == nil || v.cycles < best.cycles) {
				best, by = v, out
			}
		}
	}
	return best, by, nil
}

// stage says what is being done.
func (p *proving) stage(what string) (end func()) {
	if p.options.Run.Progress == nil {
		return func() {}
	}
	return p.options.Run.Progress.Stage(what)
}

// candidates lists the patches for the advice on the kernel's costliest launch.
func (p *proving) candidates(on *variant, result *reports.Result) [][]patch.Candidate {
	for _, k := range result.Costliest() {
		l := result.Profile.Launches[k]
		if l.Kernel != p.kernel {
			continue
		}
		module := result.Profile.Modules[l.Module]
		program := patch.Program{
			Launch: l, Module: module, Kernel: patch.SourceName(reports.KernelName(module, l.Kernel)), File: p.source.name, Text: on.text,
		}
		return program.Candidates(result.Launches[k].Advice)
	}
	return nil
}

// proof is the beginning of what is told.
func (p *proving) proof(base *variant) *reports.Proof {
	return &reports.Proof{
		Kernel: reports.KernelName(p.target.Module, p.kernel), Source: p.source.name, Compiler: p.options.Compiler.String(), Given: p.given, Base: base.cycles,
		Versions: p.compiled, Runs: p.ran, Patches: []*reports.Patch{},
	}
}

// sortPatches puts those that are proved first, the best first.
func sortPatches(list []*reports.Patch) {
	rank := func(p *reports.Patch) float64 {
		if p.Outcome == reports.Proved {
			return p.Speedup
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b *reports.Patch) int {
		switch x, y := rank(a), rank(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
}
