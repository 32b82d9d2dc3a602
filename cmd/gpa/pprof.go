package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"

	"gpa"
	"gpa/cubin"
	"gpa/profiler"
	"gpa/reports"
)

func pprofCommand() command {
	return command{
		name: "pprof", args: "[PPROF FLAG ...] SOURCE ...", short: "look at profiles with pprof, machine code included",
		long: `pprof as Go has it (github.com/google/pprof), but it knows cubins: -disasm=REGEXP, -weblist=REGEXP and the source and
disassembly views of -http=HOST:PORT show SASS. All of pprof's flags are understood, with one dash: -top, -list=REGEXP,
-peek=REGEXP, -tags, -traces, -diff_base=SOURCE, -sample_index=latency, -tagfocus=stall=barrier; gpa pprof -help lists them.

SOURCE is a kernel to profile (a launch file, a folder with a launch.yaml, a built-in kernel's name), a samples.gpa, or
a profile.pb.gz beside which a samples.gpa lies; the cubins come from there. Several are merged.

  gpa pprof -top hotspot
  gpa pprof -disasm=hotspot hotspot
  gpa pprof -http=localhost:8080 OUT/profile.pb.gz
  gpa pprof -peek=. -addresses OUT/blame.pb.gz      who waits for whom: an instruction's callers are those that wait for it`,
		raw: runPprof,
	}
}

func runPprof(ctx context.Context, e *env, args []string) error {
	s := &pprofSources{ctx: ctx, stderr: e.stderr, prints: e.prints, progress: e.progress, profiles: make(map[string]*profile.Profile)}
	defer s.close()
	// pprof's web server and its prompt end with the process only.
	defer context.AfterFunc(ctx, func() {
		s.close()
		os.Exit(exitFailed)
	})()
	flags := newPprofFlags(args, s)
	err := driver.PProf(&driver.Options{Fetch: s, Obj: &s.objects, Flagset: flags})
	if flags.err != nil {
		return flags.err // what pprof says then follows from it
	}
	return err
}

// pprofFlags gives pprof the flags of the standard library, which take one dash.
type pprofFlags struct {
	*flag.FlagSet
	args    []string
	sources *pprofSources
	extra   []string
	err     error
}

func newPprofFlags(args []string, s *pprofSources) *pprofFlags {
	f := &pprofFlags{FlagSet: flag.NewFlagSet("gpa pprof", flag.ContinueOnError), args: args, sources: s}
	f.SetOutput(s.stderr)
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
			f.SetOutput(f.sources.stderr)
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
	f.sources.asNamed = folders != nil && folders.Value.String() != ""
	for _, name := range f.Args() {
		if f.err = f.sources.open(name); f.err != nil {
			return nil
		}
	}
	if folders != nil && !f.sources.asNamed && len(f.sources.folders) > 0 {
		f.err = folders.Value.Set(strings.Join(f.sources.folders, string(filepath.ListSeparator)))
	}
	return f.Args()
}

// pprofSources are the profiles that a command line names, the cubins that they refer to and the folders with their source
// files.
type pprofSources struct {
	mu       sync.Mutex // pprof fetches several at a time
	ctx      context.Context
	stderr   io.Writer
	prints   io.Writer // see env
	progress *progress
	profiles map[string]*profile.Profile // by source; those that pprof reads itself are missing
	objects  pprofObjects
	folders  []string
	unpacked []string // temporary folders
	asNamed  bool     // --source_path is given: pprof finds source files by its own rules
}

// Fetch returns the profile of a source; none where pprof is to read it itself.
func (s *pprofSources) Fetch(name string, _, _ time.Duration) (*profile.Profile, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.profiles[name]
	if !ok {
		if err := s.open(name); err != nil { // the profile of -base or -diff_base
			return nil, "", err
		}
		p = s.profiles[name]
	}
	return p, "", nil // with a name it would be taken for one from elsewhere and a copy kept in the home folder
}

// open makes a source ready.
func (s *pprofSources) open(name string) error {
	info, err := os.Stat(name)
	isFile := err == nil && !info.IsDir()
	switch {
	case strings.Contains(name, "://"):
		return nil
	case isFile && filepath.Ext(name) == ".gpa":
		return s.load(name, name)
	case isFile && !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)):
		return s.parse(name)
	case err == nil && info.IsDir():
		if saved := filepath.Join(name, gpa.SavedFile); isRegular(saved) {
			return s.load(name, saved)
		}
	}
	return s.run(name)
}

// parse reads a profile of pprof's own, with the machine code of the result that it lies in.
func (s *pprofSources) parse(name string) error {
	beside := filepath.Join(filepath.Dir(name), gpa.SavedFile)
	if _, err := os.Stat(beside); err == nil {
		r, err := openResult(beside)
		if err != nil {
			return err
		}
		s.add(r.Profile.Modules)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	converted, err := profile.ParseData(data)
	if err != nil {
		return nil // pprof says what it is not
	}
	return s.use(name, converted, gpa.NewSources(filepath.Dir(name)))
}

func isRegular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// load reads a saved profile.
func (s *pprofSources) load(name, file string) error {
	r, err := openResult(file)
	if err != nil {
		return err
	}
	return s.keep(name, r.Profile, r.Sources)
}

// keep converts a profile for pprof. Its source files are those that lie in the folder of the kernel or the result.
func (s *pprofSources) keep(name string, p *profiler.Profile, sources gpa.Sources) error {
	s.add(p.Modules)
	converted, err := reports.Pprof(p, version)
	if err != nil {
		return err
	}
	return s.use(name, converted, sources)
}

func (s *pprofSources) add(modules []*cubin.File) {
	for _, m := range modules {
		s.objects.add(m)
	}
}

// use makes a profile one that pprof is to show.
func (s *pprofSources) use(name string, p *profile.Profile, sources gpa.Sources) error {
	s.profiles[name] = p
	if s.asNamed {
		return nil
	}
	return s.unpack(p, sources)
}

// unpack copies the source files of a profile to a temporary folder, the only one that pprof is to look into: it looks for absolute
// names where they are, and for others in all folders above. The name of a file that is not found is made one that no file has.
func (s *pprofSources) unpack(p *profile.Profile, sources gpa.Sources) error {
	to, err := os.MkdirTemp("", "gpa-sources-")
	if err != nil {
		return err
	}
	s.unpacked, s.folders = append(s.unpacked, to), append(s.folders, to)
	for _, f := range p.Function {
		if f.Filename == "" {
			continue
		}
		below, data := sources.Find(f.Filename)
		if data == nil {
			f.Filename = "(source not found)/" + path.Base(path.Clean("/"+f.Filename))
			continue
		}
		f.Filename = below
		file := filepath.Join(to, filepath.FromSlash(below))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// run profiles a kernel.
func (s *pprofSources) run(name string) error {
	var t target
	r, err := t.resolve(name)
	if err != nil {
		return err
	}
	s.progress.start("gpa pprof")
	defer s.progress.finish()
	o := gpa.Options{Stdout: s.prints}
	if s.progress != nil {
		o.Progress = s.progress
	}
	ran, err := r.Profile(s.ctx, o)
	if err != nil {
		return err
	}
	return s.keep(name, ran.Profile, ran.Sources)
}

// close removes what was unpacked.
func (s *pprofSources) close() {
	for _, dir := range s.unpacked {
		os.RemoveAll(dir)
	}
}
