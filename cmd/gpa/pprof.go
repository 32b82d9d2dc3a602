package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/pprof/driver"

	"gpa/reports/pprof"
)

func pprofCommand() command {
	return command{
		name: "pprof", args: "[PPROF FLAG ...] SOURCE ...", short: "look at profiles with pprof, machine code included",
		raw: runPprof,
	}
}

func runPprof(ctx context.Context, e *env, args []string) error {
	s := pprof.NewSources(ctx)
	s.Version, s.Options.Stdout = version, e.prints
	if e.progress != nil {
		s.Options.Progress = e.progress
		s.Running = func() func() {
			e.progress.Start("gpa pprof")
			return e.progress.Finish
		}
	}
	defer s.Close()
	// pprof's web server and its prompt end with the process only.
	defer context.AfterFunc(ctx, func() {
		s.Close()
		os.Exit(exitFailed)
	})()
	flags := newPprofFlags(args, s, e.stderr)
	err := driver.PProf(&driver.Options{Fetch: s, Obj: &s.Objects, Flagset: flags})
	if flags.err != nil {
		return flags.err // what pprof says then follows from it
	}
	return err
}

// pprofFlags gives pprof the flags of the standard library, which take one dash.
type pprofFlags struct {
	*flag.FlagSet
	args    []string
	sources *pprof.Sources
	stderr  io.Writer
	extra   []string
	err     error
}

func newPprofFlags(args []string, s *pprof.Sources, stderr io.Writer) *pprofFlags {
	f := &pprofFlags{FlagSet: flag.NewFlagSet("gpa pprof", flag.ContinueOnError), args: args, sources: s, stderr: stderr}
	f.SetOutput(stderr)
	return f
}

// StringList defines a flag that may be repeated.
func (f *pprofFlags) StringList(name, def, usage string) *[]*string {
	list := new([]*string)
	f.Func(name, usage, func(v string) error {
		*list = append(*list, &v)
		return nil
	})
	if def != "" {
		*list = []*string{&def}
	}
	return list
}

// ExtraUsage is printed after the usage of pprof's own flags.
func (f *pprofFlags) ExtraUsage() string { return strings.Join(f.extra, "\n") }

// AddExtraUsage adds to that.
func (f *pprofFlags) AddExtraUsage(text string) { f.extra = append(f.extra, text) }

// Parse parses the command line, and makes ready what the sources are: pprof asks for source files where they are.
func (f *pprofFlags) Parse(usage func()) []string {
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	if err := f.FlagSet.Parse(f.args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(f.stderr)
			usage()
		}
		f.err = usageError{err}
		return nil
	}
	if f.NArg() == 0 {
		f.err = usagef("a kernel or a profile is missing")
		return nil
	}
	folders := f.Lookup("source_path")
	f.sources.AsNamed = folders != nil && folders.Value.String() != ""
	for _, name := range f.Args() {
		if f.err = f.sources.Open(name); f.err != nil {
			return nil
		}
	}
	if folders != nil && !f.sources.AsNamed && len(f.sources.Folders()) > 0 {
		f.err = folders.Value.Set(strings.Join(f.sources.Folders(), string(filepath.ListSeparator)))
	}
	return f.Args()
}
