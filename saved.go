package gpa

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gpa/kernels"
	"gpa/profiler"
	"gpa/reports"
)

// SavedFile is the name of the saved profile in the folder of a result.
const SavedFile = reports.SamplesFile

// SavedName is the file of the saved profile that a name stands for: of a folder, the one in it.
func SavedName(name string) string {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return filepath.Join(name, SavedFile)
	}
	return name
}

// FromProfile makes a result of a profile that came from elsewhere, as samples of a real GPU. Source files are looked for in sources.
func FromProfile(p *profiler.Profile, sources Sources) *Result {
	return &Result{Result: reports.Result{Profile: p}, Sources: sources}
}

// Open reads a saved profile: a file that [Result.Save] or gpa profile --out has written, or the folder that holds one. Source files are looked
// for beside it. What a run alone knows is missing: its advice cannot be tried unless it is attached to its target, see [Attach].
func Open(name string) (*Result, error) {
	name = SavedName(name)
	file, err := os.Open(name)
	switch folder := filepath.Dir(name); {
	case errors.Is(err, fs.ErrNotExist) && (kernels.Has(folder) || kernels.Has(name)):
		return nil, fmt.Errorf("%s is a built-in kernel, not a saved result; gpa profile %s --out DIR saves one", name, name)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no saved result %s; gpa profile KERNEL --out DIR saves one", name)
	case err != nil:
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	p, err := profiler.Load(name, file, info.Size())
	if err != nil {
		return nil, err
	}
	return FromProfile(p, NewSources(filepath.Dir(name))), nil
}

// Save writes the profile, with its modules and what-if runs, for [Open]. The same launches give the same bytes.
func (r *Result) Save(w io.Writer) error { return profiler.Save(w, r.Profile) }
