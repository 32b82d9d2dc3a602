package rewrite

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// A FileCensus counts the device code of files as [Census] does a cubin's.
type FileCensus struct {
	Arch    sass.Arch                    // only code for this architecture, 0 for all that are known
	Counted func(path string, t Tally)   // is told of every file with such code
	LeftOut func(path string, err error) // is told of entries of files that cannot be counted
}

// Walk counts the code of a file, or of the cubins, fatbins, libraries and archives in a folder. A file without device code is an error only if it
// was asked for.
func (c *FileCensus) Walk(name string) error {
	return filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path != name && !holdsCode(path) {
			return err
		}
		return c.file(path, path == name)
	})
}

// holdsCode reports whether a file's name says that it may hold device code.
func holdsCode(path string) bool {
	base := strings.TrimSuffix(filepath.Base(path), cubin.Compressed)
	return slices.Contains([]string{".cubin", ".fatbin", ".so", ".a"}, filepath.Ext(base)) || strings.Contains(base, ".so.")
}

// file counts the functions of a file. A file without device code counts only if it was asked for.
func (c *FileCensus) file(path string, asked bool) error {
	data, err := cubin.ReadFile(path)
	if err != nil {
		return err
	}
	list, err := cubin.Entries(data)
	if err != nil && asked && len(list) == 0 {
		return fmt.Errorf("%s: %w", path, err)
	}
	var sum Tally
	for i := range list {
		if list[i].Kind == cubin.CubinEntry && c.wants(list[i].SM) {
			c.entry(&sum, path, list, i)
		}
	}
	if sum != (Tally{}) {
		c.Counted(path, sum)
	}
	return nil
}

func (c *FileCensus) wants(sm int) bool {
	return sm == int(c.Arch) || c.Arch == 0 && sass.Arch(sm).Known()
}

// entry counts the functions of a cubin in a file.
func (c *FileCensus) entry(sum *Tally, path string, list []cubin.Entry, i int) {
	label, code, err := cubin.ReadEntry(path, list, i)
	if err == nil {
		var file *cubin.File
		if file, err = cubin.NewFile(label, code); err == nil {
			var t Tally
			if t, err = Census(file); err == nil {
				sum.Add(t)
				return
			}
		}
	}
	if errors.Is(err, cubin.ErrNoCode) {
		return
	}
	c.LeftOut(path, err)
}
