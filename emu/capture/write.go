package capture

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gpa/kernels"
	"gpa/reports/files"
)

// Write writes the capture to a folder: the launch file, and the files that it refers to in one beside it ([Folder]), which captures share.
func (c *Capture) Write(folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for name, data := range c.Files() {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			continue // the name says what is in it
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := writeSparse(path, data); err != nil {
			return err
		}
	}
	return files.WriteOne(filepath.Join(folder, kernels.LaunchFile), c.Text)
}

// notInName is what takes the place of one dash in a file name.
var notInName = regexp.MustCompile(`[^0-9A-Za-z_]+`)

// Name is a name for the folder of a launch's capture, made of its number and the kernel's name.
func Name(number int, kernel string) string {
	const longest = 60
	plain := notInName.ReplaceAllString(kernel, "-")
	return fmt.Sprintf("%04d-%s", number, strings.Trim(plain[:min(len(plain), longest)], "-"))
}

// A Writer writes captures into a folder, each under the name of its launch.
type Writer struct {
	Folder  string
	Written int
	Err     error // the first that stopped one from being written
}

// Write writes the capture of a launch.
func (w *Writer) Write(number int, kernel string, c *Capture) {
	switch err := c.Write(filepath.Join(w.Folder, Name(number, kernel))); {
	case err == nil:
		w.Written++
	case w.Err == nil:
		w.Err = err
	}
}

// writeSparse writes a file, in which pages of zeros take no place.
func writeSparse(name string, data []byte) error {
	const page = 4096
	file, err := files.CreateBeside(name)
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	var zeros [page]byte
	err = file.Truncate(int64(len(data)))
	for at := 0; at < len(data) && err == nil; at += page {
		if part := data[at:min(at+page, len(data))]; !bytes.Equal(part, zeros[:len(part)]) {
			_, err = file.WriteAt(part, int64(at))
		}
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.Rename(file.Name(), name)
}
