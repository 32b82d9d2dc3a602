package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// An outputFile is a file of a result, complete in memory.
type outputFile struct {
	name string
	data []byte
}

// writeFile writes one file as writeFiles does.
func writeFile(name string, data []byte) error {
	return writeFiles(filepath.Dir(name), []outputFile{{filepath.Base(name), data}})
}

// writeFiles puts the files of a result into a folder. Each appears whole or not at all: it is written under another
// name first and renamed when all have been written. What is there and no regular file (a device, a FIFO, a symbolic link) stays
// what it is and is written to.
func writeFiles(dir string, files []outputFile) error {
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
		if temporary[i], err = writeBeside(filepath.Join(dir, f.name), f.data); err != nil {
			return err
		}
	}
	for i, f := range files {
		name := filepath.Join(dir, f.name)
		var err error
		if temporary[i] == "" {
			err = os.WriteFile(name, f.data, 0o666)
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
	file, err := createBeside(name)
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

// createBeside makes an empty file of a new name, as os.CreateTemp does, with the permissions that the system gives new files.
func createBeside(name string) (*os.File, error) {
	const attempts = 1000
	for i := 0; ; i++ {
		beside := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%.200s.%d-%d", filepath.Base(name), os.Getpid(), i))
		file, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) || i == attempts {
			return file, err
		}
	}
}

// maxHeld is how much of a command's output is held back until it is known how the command ends, bytes.
const maxHeld = 64 << 20

// A heldOutput keeps the result of a command until it is complete: a command line or an input that turns out to be wrong on the way
// leaves no part of a table. What is longer is not held.
type heldOutput struct {
	env  *env
	text bytes.Buffer
	sent bool // something has been written
}

// Write holds a text, or hands everything on once there is too much of it.
func (h *heldOutput) Write(text []byte) (int, error) {
	n, _ := h.text.Write(text)
	if h.text.Len() > maxHeld {
		return n, h.release()
	}
	return n, nil
}

// release hands on what was held.
func (h *heldOutput) release() error {
	h.sent = h.sent || h.text.Len() > 0
	_, err := h.text.WriteTo(h.env.stdout)
	return err
}

// end hands on the result of a command that ended with an error or nil, unless it is none, and returns how the command ended.
func (h *heldOutput) end(err error) error {
	var failed failure
	var program programStatus
	switch {
	case err == nil || errors.As(err, &failed) || errors.As(err, &program) || stopped(err):
		if unwritten := h.release(); err == nil {
			err = unwritten
		}
		return err
	case h.sent:
		return failure{err} // a part has been seen: the result is not complete
	}
	return err
}
