package pprof

import (
	"errors"
	"flag"
	"io"
	"path/filepath"
	"strings"

	"github.com/google/pprof/driver"
)

// A UsageError is a mistake in pprof's command line.
type UsageError struct{ Err error }

// Error is one line.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// Show runs pprof with its command line: flags of its own, then sources, as [Sources.Open] takes them. Its usage goes to messages.
func (s *Sources) Show(args []string, messages io.Writer) error {
	flags := &flagSet{FlagSet: flag.NewFlagSet("gpa pprof", flag.ContinueOnError), args: args, sources: s, stderr: messages}
	flags.SetOutput(messages)
	err := driver.PProf(&driver.Options{Fetch: s, Obj: &s.Objects, Flagset: flags})
	if flags.err != nil {
		return flags.err // what pprof says then follows from it
	}
	return err
}

// A flagSet gives pprof the flags of the standard library, which take one dash.
type flagSet struct {
	*flag.FlagSet
	args    []string
	sources *Sources
	stderr  io.Writer
	extra   []string
	err     error
}

// StringList defines a flag that may be repeated.
func (f *flagSet) StringList(name, def, usage string) *[]*string {
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
func (f *flagSet) ExtraUsage() string { return strings.Join(f.extra, "\n") }

// AddExtraUsage adds to that.
func (f *flagSet) AddExtraUsage(text string) { f.extra = append(f.extra, text) }

// Parse parses the command line, and makes ready what the sources are: pprof asks for source files where they are.
func (f *flagSet) Parse(usage func()) []string {
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	if err := f.FlagSet.Parse(f.args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(f.stderr)
			usage()
		}
		f.err = &UsageError{err}
		return nil
	}
	if f.NArg() == 0 {
		f.err = &UsageError{errors.New("a kernel or a profile is missing")}
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
