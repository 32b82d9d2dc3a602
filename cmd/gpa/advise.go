package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"gpa/advisor"
	"gpa/blamer"
	"gpa/profiler"
	"gpa/reports"
)

// adviceFlags are the flags of the commands that blame and advise.
type adviceFlags struct {
	json  bool
	out   string
	top   int
	all   bool
	exact bool
	html  string

	source string
	tables []reports.HTMLTable // for the web page
	proof  *reports.Proof      // of patches, nil for none
}

func (f *adviceFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.StringVar(&f.out, "out", "", "write all files of the result to `DIR`")
	flags.IntVar(&f.top, "top", 3, "`NUMBER` of pieces of advice told in full for each kernel")
	flags.BoolVar(&f.all, "all", false, "list also changes that gain less than 2 % or make the kernel slower")
	flags.StringVar(&f.html, "html", "", "write the report as one web page to `FILE`")
	registerSource(flags, &f.source)
	flags.BoolVar(&f.exact, "exact", false, "blame the true producers of the stalls, which only an emulated GPU knows")
}

func adviseCommand() command {
	return command{
		name: "advise", args: "SAMPLES", short: "blame and advise again from a saved profile",
		long: `SAMPLES is a samples.gpa that gpa profile --out wrote, or the folder that holds one. Source lines are shown where
the source files lie beside it or, with --source, below that folder.`,
		setup: func(flags *pflag.FlagSet) action {
			var f adviceFlags
			f.register(flags)
			return f.advise
		},
	}
}

// reportCommand is advise under the name by which people look for a report.
func reportCommand() command {
	c := adviseCommand()
	c.name, c.args, c.short = "report", "RESULT", "tell a saved result again: as text, as JSON, or as a web page (--html FILE)"
	c.long = `RESULT is a folder that gpa profile --out wrote, or its samples.gpa. The web page is one file that needs no network: launch facts,
stalls, an instruction roofline and the advice, then source and machine code side by side. An instruction leads to those that it
waits for; all is readable without JavaScript. Source lines are shown where the source files lie beside the result.`
	return c
}

func (f *adviceFlags) advise(_ context.Context, e *env, args []string) error {
	name, err := oneArgument(args, "the saved profile")
	if err != nil {
		return err
	}
	name = savedFile(name)
	p, err := loadProfile(name)
	if err != nil {
		return err
	}
	return f.tell(e, p, filepath.Dir(name))
}

// tell blames, advises and reports. Source files are looked for in folder.
func (f *adviceFlags) tell(e *env, p *profiler.Profile, folder string) error {
	r := &reports.Result{Profile: p}
	if err := f.analyze(r); err != nil {
		return err
	}
	return f.report(e, r, newSourceFinder(folder))
}

// savedFile is the saved profile that a name stands for: of a folder, the one in it.
func savedFile(name string) string {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return filepath.Join(name, samplesFile)
	}
	return name
}

func loadProfile(name string) (*profiler.Profile, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, noResult(name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return profiler.Load(name, file, info.Size())
}

// report writes the files and prints the result.
func (f *adviceFlags) report(e *env, r *reports.Result, source sourceFinder) error {
	if f.top < 1 {
		return usagef("--top: %d is not positive", f.top)
	}
	source = source.before(f.source)
	defer source.tell(e.stderr)
	if err := f.write(r, source); err != nil {
		return err
	}
	if err := f.writeHTML(r, source); err != nil {
		return err
	}
	if f.json {
		return reports.WriteJSON(e.stdout, f.proved(r.Report()))
	}
	err := reports.Text(e.stdout, r, reports.TextOptions{Top: f.top, Source: source.read, Style: e.style()})
	if err != nil || f.proof == nil {
		return err
	}
	fmt.Fprintln(e.stdout)
	return reports.ProofText(e.stdout, f.proof, e.style())
}

// proved is a report with the proof of patches, where there is one.
func (f *adviceFlags) proved(r *reports.ProfileReport) any {
	if f.proof == nil {
		return r
	}
	return struct {
		*reports.ProfileReport
		Proof *reports.Proof `json:"proof"`
	}{r, f.proof}
}

// writeHTML writes the web page.
func (f *adviceFlags) writeHTML(r *reports.Result, source sourceFinder) error {
	if f.html == "" {
		return nil
	}
	var names []string
	for _, l := range r.Profile.Launches {
		if name := reports.KernelName(r.Profile.Modules[l.Module], l.Kernel); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var page bytes.Buffer
	o := reports.HTMLOptions{Title: strings.Join(names, ", "), Version: version, Source: source.read, Tables: f.tables}
	if err := reports.HTML(&page, r.WithoutHostTimes(), o); err != nil {
		return err
	}
	return writeFile(f.html, page.Bytes())
}

// analyze adds blame and advice to the launches of a result.
func (f *adviceFlags) analyze(r *reports.Result) error {
	if err := f.blame(r); err != nil {
		return err
	}
	return f.rank(r, f.all)
}

// blame adds blame, limits and warnings to the launches of a result.
func (f *adviceFlags) blame(r *reports.Result) error {
	if r.Launches == nil {
		r.Launches = make([]reports.LaunchResult, len(r.Profile.Launches))
	}
	warnings := make(map[string][]advisor.Warning) // by module and kernel
	for i, l := range r.Profile.Launches {
		blame, err := blamer.Analyze(l, r.Profile.Modules[l.Module], blamer.Options{Exact: f.exact})
		if err != nil {
			return err
		}
		r.Launches[i].Blame = blame
		if r.Launches[i].Limits, err = advisor.Limits(blame); err != nil {
			return err
		}
		key := fmt.Sprintf("%d %s", l.Module, l.Kernel)
		if _, ok := warnings[key]; !ok {
			if warnings[key], err = advisor.Warnings(r.Profile.Modules[l.Module], l.Kernel); err != nil {
				return err
			}
		}
		r.Launches[i].Warnings = warnings[key]
	}
	return nil
}

// rank adds advice to the blamed launches of a result, with the what-if runs that their profile holds: what is worth listing, or all
// that there is to say.
func (f *adviceFlags) rank(r *reports.Result, all bool) error {
	for i := range r.Launches {
		var err error
		if r.Launches[i].Advice, err = advisor.Advise(r.Launches[i].Blame, advisor.Options{Candidates: all, Tries: r.Profile.Launches[i].Tries}); err != nil {
			return err
		}
	}
	return nil
}

// write puts all files of a result into the output folder.
func (f *adviceFlags) write(r *reports.Result, source sourceFinder) error {
	if f.out == "" {
		return nil
	}
	var text bytes.Buffer
	if err := reports.Text(&text, r, reports.TextOptions{Top: f.top, Source: source.read}); err != nil {
		return err
	}
	files, err := profileFiles(r.Profile)
	if err != nil {
		return err
	}
	blame, err := blameFile(r)
	if err != nil {
		return err
	}
	var object bytes.Buffer
	if err := reports.WriteJSON(&object, r.WithoutHostTimes().Report()); err != nil {
		return err
	}
	return writeFiles(f.out, append(files, blame, outputFile{"advice.txt", text.Bytes()}, outputFile{"advice.json", object.Bytes()}))
}
