package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// maxSource bounds the size of a source file that is shown, bytes.
const maxSource = 16 << 20

// A sourceFinder reads the source files that a line table names. The names are those of whoever built the kernel, or of whoever made
// the file with them: whatever they are, only files below the folders are read. A name is looked for there as it is, then without its
// first folder, and so on.
type sourceFinder struct {
	folders []sourceFolder
	missing *[]string // names that were looked for in vain
}

// A sourceFolder is where sources may be.
type sourceFolder struct {
	name string                                              // empty for a built-in kernel's
	open func() (files fs.FS, close func() error, err error) // no name and no symbolic link leads out of the files
}

// newSourceFinder returns one that looks into folders of the file system, empty names aside.
func newSourceFinder(folders ...string) sourceFinder {
	s := sourceFinder{missing: new([]string)}
	for _, name := range folders {
		if name != "" {
			s.folders = append(s.folders, sourceFolder{name, func() (fs.FS, func() error, error) {
				root, err := os.OpenRoot(name)
				if err != nil {
					return nil, nil, err
				}
				return root.FS(), root.Close, nil
			}})
		}
	}
	return s
}

// newEmbeddedFinder returns one that looks into a built-in kernel.
func newEmbeddedFinder(files fs.FS) sourceFinder {
	embedded := func() (fs.FS, func() error, error) { return files, func() error { return nil }, nil }
	return sourceFinder{[]sourceFolder{{open: embedded}}, new([]string)}
}

// registerSource declares the flag that names a folder with sources.
func registerSource(flags *pflag.FlagSet, folder *string) {
	flags.StringVar(folder, "source", "", "look for source files below `DIR`, or in that of a source file, first, then beside the kernel or the result, and nowhere else")
}

// before returns the finder with a folder that it looks into first.
func (s sourceFinder) before(folder string) sourceFinder {
	if folder == "" {
		return s
	}
	if isRegular(folder) {
		folder = filepath.Dir(folder)
	}
	first := newSourceFinder(folder)
	first.folders = append(first.folders, s.folders...)
	return first
}

// read returns a source file, nil where it cannot be found.
func (s sourceFinder) read(name string) []byte {
	_, data := s.find(name)
	return data
}

// find returns a source file and its name below its folder.
func (s sourceFinder) find(name string) (below string, data []byte) {
	for _, folder := range s.folders {
		files, end, err := folder.open()
		if err != nil {
			continue
		}
		below, data = readBelow(files, name)
		if end() == nil && data != nil {
			return below, data
		}
	}
	if s.missing != nil && name != "" && !slices.Contains(*s.missing, name) {
		*s.missing = append(*s.missing, name)
	}
	return "", nil
}

// locate returns a source file and the folder of the file system that it lies in, "" for none.
func (s sourceFinder) locate(name string) (folder string, data []byte) {
	for _, f := range s.folders {
		one := sourceFinder{folders: []sourceFolder{f}}
		if below, data := one.find(name); data != nil {
			if f.name == "" {
				return "", data
			}
			return filepath.Join(f.name, filepath.FromSlash(path.Dir(below))), data
		}
	}
	return "", nil
}

// readBelow reads the file of a name or of its end.
func readBelow(files fs.FS, name string) (below string, data []byte) {
	parts := strings.Split(strings.Trim(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/"), "/")
	for i := range parts {
		below := strings.Join(parts[i:], "/")
		if !fs.ValidPath(below) || below == "." {
			continue
		}
		if info, err := fs.Stat(files, below); err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
			continue
		}
		if data, err := fs.ReadFile(files, below); err == nil {
			return below, data
		}
	}
	return "", nil
}

// tell says which sources were not found, and where they were looked for.
func (s sourceFinder) tell(w io.Writer) {
	const shown = 3
	if s.missing == nil || len(*s.missing) == 0 {
		return
	}
	var where []string
	for _, folder := range s.folders {
		if folder.name != "" {
			where = append(where, folder.name)
		}
	}
	if where == nil {
		return // a built-in kernel has the sources that it has
	}
	list, more := *s.missing, ""
	if len(list) > shown {
		list, more = list[:shown], fmt.Sprintf(" and %d more", len(list)-shown)
	}
	fmt.Fprintf(w, "gpa: sources not found below %s: %s%s (--source DIR looks below DIR)\n", strings.Join(where, ", "), strings.Join(list, ", "), more)
}
