// Package files writes the files of results.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A File is a file of a result, complete in memory.
type File struct {
	Name string
	Data []byte
}

// WriteOne writes one file as [Write] does.
func WriteOne(name string, data []byte) error {
	return Write(filepath.Dir(name), []File{{filepath.Base(name), data}})
}

// Write puts the files of a result into a folder. Each appears whole or not at all: it is written under another
// name first and renamed when all have been written. What is there and no regular file (a device, a FIFO, a symbolic link) stays
// what it is and is written to.
func Write(dir string, files []File) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	temporary := make([]string, len(files))
	defer func() {
		for _, name := range temporary {
			if name != "" {
				os.Remove(name) // those that were renamed are gone already
			}
		}
	}()
	for i, f := range files {
		var err error
		if temporary[i], err = writeBeside(filepath.Join(dir, f.Name), f.Data); err != nil {
			return err
		}
	}
	for i, f := range files {
		name := filepath.Join(dir, f.Name)
		var err error
		if temporary[i] == "" {
			err = os.WriteFile(name, f.Data, 0o666)
		} else {
			err = os.Rename(temporary[i], name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeBeside writes a file that is to take the place of another under a name beside it, and with its permissions; where there is
// none, with those of a new file. The name is empty where that place is to be written to itself.
func writeBeside(name string, data []byte) (temporary string, err error) {
	before, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	case before.IsDir():
		return "", fmt.Errorf("%s is a folder", name)
	case !before.Mode().IsRegular():
		return "", nil
	}
	file, err := CreateBeside(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	_, err = file.Write(data)
	if err == nil && before != nil {
		err = file.Chmod(before.Mode().Perm())
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(file.Name())
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return file.Name(), nil
}

// CreateBeside makes an empty file of a new name, as os.CreateTemp does, with the permissions that the system gives new files.
func CreateBeside(name string) (*os.File, error) {
	const attempts = 1000
	for i := 0; ; i++ {
		beside := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%.200s.%d-%d", filepath.Base(name), os.Getpid(), i))
		file, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) || i == attempts {
			return file, err
		}
	}
}
