package gpa

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gpa/emu/launch"
)

// maxSource bounds the size of a source file that is shown, bytes.
const maxSource = 16 << 20

// Sources read the source files that a line table names. The names are those of whoever built the kernel, or of whoever made
// the file with them: whatever they are, only files below the folders are read. A name is looked for there as it is, then without its
// first folder, and so on.
type Sources struct {
	folders []sourceFolder
	missing *[]string // names that were looked for in vain
}

// A sourceFolder is where sources may be.
type sourceFolder struct {
	name string                                              // empty for a built-in kernel's
	open func() (files fs.FS, close func() error, err error) // no name and no symbolic link leads out of the files
}

// NewSources returns one that looks into folders of the file system, empty names aside.
func NewSources(folders ...string) Sources {
	s := Sources{missing: new([]string)}
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

// embeddedSources returns one that looks into a built-in kernel.
func embeddedSources(files fs.FS) Sources {
	embedded := func() (fs.FS, func() error, error) { return files, func() error { return nil }, nil }
	return Sources{[]sourceFolder{{open: embedded}}, new([]string)}
}

// Before returns the sources with a folder that it looks into first.
func (s Sources) Before(folder string) Sources {
	if folder == "" {
		return s
	}
	if isRegular(folder) {
		folder = filepath.Dir(folder)
	}
	first := NewSources(folder)
	first.folders = append(first.folders, s.folders...)
	return first
}

// Read returns a source file, nil where it cannot be found.
func (s Sources) Read(name string) []byte {
	_, data := s.Find(name)
	return data
}

// Find returns a source file and its name below its folder.
func (s Sources) Find(name string) (below string, data []byte) {
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

// Locate returns a source file and the folder of the file system that it lies in, "" for none.
func (s Sources) Locate(name string) (folder string, data []byte) {
	for _, f := range s.folders {
		one := Sources{folders: []sourceFolder{f}}
		if below, data := one.Find(name); data != nil {
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

// Missing returns the names that were looked for in vain, and the folders that were looked into. A built-in kernel, which has the sources that
// it has, has no folders.
func (s Sources) Missing() (names, folders []string) {
	for _, folder := range s.folders {
		if folder.name != "" {
			folders = append(folders, folder.name)
		}
	}
	if s.missing != nil {
		names = *s.missing
	}
	return names, folders
}

// sourcesOf returns where the sources of a launch file's kernels are: in its folder.
func sourcesOf(file *launch.File) Sources {
	switch dir := file.Dir().(type) {
	case launch.OSDir:
		return NewSources(string(dir))
	case launch.FSDir:
		return embeddedSources(dir.FS)
	}
	return NewSources()
}

// Missed writes a line that says which sources were not found, and where they were looked for, if any.
func (s Sources) Missed(w io.Writer) {
	const shown = 3
	list, where := s.Missing()
	if len(list) == 0 || len(where) == 0 {
		return
	}
	more := ""
	if len(list) > shown {
		list, more = list[:shown], fmt.Sprintf(" and %d more", len(list)-shown)
	}
	fmt.Fprintf(w, "gpa: sources not found below %s: %s%s (--source DIR looks below DIR)\n", strings.Join(where, ", "), strings.Join(list, ", "), more)
}
