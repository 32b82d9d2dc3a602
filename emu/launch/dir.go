package launch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// OSDir is a folder of the file system as a Dir.
type OSDir string

// ReadFile reads a file by its path relative to the folder.
func (d OSDir) ReadFile(name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(string(d), filepath.FromSlash(name))
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return os.ReadFile(name)
}

// FSDir is a file system, as of an embedded kernel, as a Dir.
type FSDir struct{ fs.FS }

// ReadFile reads a file by its path in the file system.
func (d FSDir) ReadFile(name string) ([]byte, error) { return fs.ReadFile(d.FS, name) }
