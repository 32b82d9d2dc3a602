// Package pprof lets pprof's driver (github.com/google/pprof/driver) show profiles of gpa: it opens results, profiles kernels, and looks into cubins for
// machine code.
package pprof

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/profile"

	"gpa"
	"gpa/cubin"
	"gpa/profiler"
	"gpa/reports"
)

// Sources are the profiles that a command line names, the cubins that they refer to and the folders with their source
// files. They are the driver's Fetcher; Objects is its object tool.
type Sources struct {
	Options gpa.Options         // of kernels that are profiled
	Running func() (end func()) // is called before a kernel is profiled, nil for nobody
	Version string              // of gpa, as profiles name it
	AsNamed bool                // pprof finds source files by its own rules, as with -source_path
	Objects Objects

	mu       sync.Mutex // pprof fetches several at a time
	ctx      context.Context
	profiles map[string]*profile.Profile // by source; those that pprof reads itself are missing
	folders  []string
	unpacked []string // temporary folders
}

// NewSources returns sources whose kernels stop where ctx ends. The caller closes them.
func NewSources(ctx context.Context) *Sources {
	return &Sources{ctx: ctx, profiles: make(map[string]*profile.Profile)}
}

// Folders are those with the source files of what was opened.
func (s *Sources) Folders() []string { return s.folders }

// Fetch returns the profile of a source; none where pprof is to read it itself.
func (s *Sources) Fetch(name string, _, _ time.Duration) (*profile.Profile, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.profiles[name]
	if !ok {
		if err := s.Open(name); err != nil { // the profile of -base or -diff_base
			return nil, "", err
		}
		p = s.profiles[name]
	}
	return p, "", nil // with a name it would be taken for one from elsewhere and a copy kept in the home folder
}

// Open makes a source ready: a saved result, a profile of pprof's own with the machine code of the result that it lies in, or a kernel, which is profiled.
func (s *Sources) Open(name string) error {
	info, err := os.Stat(name)
	file := err == nil && !info.IsDir()
	switch {
	case strings.Contains(name, "://"):
		return nil
	case file && filepath.Ext(name) == ".gpa":
		return s.load(name, name)
	case file && !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)):
		return s.parse(name)
	case err == nil && info.IsDir():
		if saved := filepath.Join(name, gpa.SavedFile); isFile(saved) {
			return s.load(name, saved)
		}
	}
	return s.run(name)
}

// parse reads a profile of pprof's own, with the machine code of the result that it lies in.
func (s *Sources) parse(name string) error {
	beside := filepath.Join(filepath.Dir(name), gpa.SavedFile)
	if _, err := os.Stat(beside); err == nil {
		r, err := gpa.Open(beside)
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

// load reads a saved profile.
func (s *Sources) load(name, file string) error {
	r, err := gpa.Open(file)
	if err != nil {
		return err
	}
	return s.keep(name, r.Profile, r.Sources)
}

// keep converts a profile for pprof. Its source files are those that lie in the folder of the kernel or the result.
func (s *Sources) keep(name string, p *profiler.Profile, sources gpa.Sources) error {
	s.add(p.Modules)
	converted, err := reports.Pprof(p, s.Version)
	if err != nil {
		return err
	}
	return s.use(name, converted, sources)
}

func (s *Sources) add(modules []*cubin.File) {
	for _, m := range modules {
		s.Objects.Add(m)
	}
}

// use makes a profile one that pprof is to show.
func (s *Sources) use(name string, p *profile.Profile, sources gpa.Sources) error {
	s.profiles[name] = p
	if s.AsNamed {
		return nil
	}
	return s.unpack(p, sources)
}

// unpack copies the source files of a profile to a temporary folder, the only one that pprof is to look into: it looks for absolute
// names where they are, and for others in all folders above. The name of a file that is not found is made one that no file has.
func (s *Sources) unpack(p *profile.Profile, sources gpa.Sources) error {
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
func (s *Sources) run(name string) error {
	t, err := gpa.Load(name, gpa.LoadOptions{})
	if err != nil {
		return err
	}
	if s.Running != nil {
		defer s.Running()()
	}
	ran, err := t.Profile(s.ctx, s.Options)
	if err != nil {
		return err
	}
	return s.keep(name, ran.Profile, ran.Sources)
}

// Close removes what was unpacked.
func (s *Sources) Close() {
	for _, dir := range s.unpacked {
		os.RemoveAll(dir)
	}
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
