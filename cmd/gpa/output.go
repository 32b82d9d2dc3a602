package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// An outputFile is a file of a result, complete in memory.
type outputFile struct {
	name string
	data []byte
}

// writeFiles puts the files of a result into a folder. Each appears whole or not at all: it is written under another
// name first and renamed when all have been written.
func writeFiles(dir string, files []outputFile) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	temporary := make([]string, 0, len(files))
	defer func() {
		for _, name := range temporary {
			os.Remove(name) // those that were renamed are gone already
		}
	}()
	for _, f := range files {
		name, err := writeTemporary(dir, f)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(dir, f.name), err)
		}
		temporary = append(temporary, name)
	}
	for i, f := range files {
		if err := os.Rename(temporary[i], filepath.Join(dir, f.name)); err != nil {
			return err
		}
	}
	return nil
}

func writeTemporary(dir string, f outputFile) (string, error) {
	file, err := os.CreateTemp(dir, "."+f.name+".*")
	if err != nil {
		return "", err
	}
	_, err = file.Write(f.data)
	if err == nil {
		err = file.Chmod(0o644)
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return file.Name(), err
}
