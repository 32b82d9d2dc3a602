package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/blamer"
	"gpa/reports"
	"gpa/reports/files"
)

// adviceFlags are the flags of the commands that blame and advise.
type adviceFlags struct {
	json  bool
	out   string
	top   int
	all   bool
	exact bool
	html  string

	source  string
	kernels int                 // told in full, 0 for three
	tables  []reports.HTMLTable // for the web page
	proof   *reports.Proof      // of patches, nil for none
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
		setup: func(flags *pflag.FlagSet) action {
			var f adviceFlags
			f.register(flags)
			return withArgument("the saved profile", f.advise)
		},
	}
}

// reportCommand is advise under the name by which people look for a report.
func reportCommand() command {
	c := adviseCommand()
	c.name, c.args, c.short = "report", "RESULT", "tell a saved result again: as text, as JSON, or as a web page (--html FILE)"
	return c
}

func (f *adviceFlags) advise(_ context.Context, e *env, name string) error {
	r, err := gpa.Open(name)
	if err != nil {
		return err
	}
	return f.tell(e, r)
}

// tell blames, advises and reports.
func (f *adviceFlags) tell(e *env, r *gpa.Result) error {
	if err := r.Blame(f.blamed()); err != nil {
		return err
	}
	if err := r.Advise(f.listed()); err != nil {
		return err
	}
	return f.report(e, &r.Result, r.Sources)
}

// report writes the files and prints the result.
func (f *adviceFlags) report(e *env, r *reports.Result, source gpa.Sources) error {
	if f.top < 1 {
		return usagef("--top: %d is not positive", f.top)
	}
	source = source.Before(f.source)
	defer source.Missed(e.stderr)
	if err := f.write(r, source); err != nil {
		return err
	}
	if err := f.writeHTML(r, source); err != nil {
		return err
	}
	if f.json {
		report := r.Report()
		report.Proof = f.proof
		return reports.WriteJSON(e.stdout, report)
	}
	err := reports.Text(e.stdout, r, reports.TextOptions{Top: f.top, Kernels: f.kernels, Source: source.Read, Style: e.style()})
	if err != nil || f.proof == nil {
		return err
	}
	fmt.Fprintln(e.stdout)
	return reports.ProofText(e.stdout, f.proof, e.style())
}

// writeHTML writes the web page.
func (f *adviceFlags) writeHTML(r *reports.Result, source gpa.Sources) error {
	o := reports.HTMLOptions{Title: strings.Join(r.KernelNames(), ", "), Version: version, Source: source.Read, Tables: f.tables}
	return files.Save(f.html, func(w io.Writer) error { return reports.HTML(w, r.WithoutHostTimes(), o) })
}

// blamed says how stalls are blamed.
func (f *adviceFlags) blamed() blamer.Options { return blamer.Options{Exact: f.exact} }

// listed says which advice is listed.
func (f *adviceFlags) listed() gpa.AdviceOptions { return gpa.AdviceOptions{All: f.all} }

// write puts all files of a result into the output folder.
func (f *adviceFlags) write(r *reports.Result, source gpa.Sources) error {
	if f.out == "" {
		return nil
	}
	list, err := r.Files(version, reports.TextOptions{Top: f.top, Kernels: f.kernels, Source: source.Read})
	if err != nil {
		return err
	}
	return files.Write(f.out, list)
}
