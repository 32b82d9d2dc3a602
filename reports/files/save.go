package files

import (
	"bytes"
	"io"
)

// Save writes what write writes to a file, as [Write] does; nothing where the file has no name.
func Save(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	var data bytes.Buffer
	if err := write(&data); err != nil {
		return err
	}
	return WriteOne(name, data.Bytes())
}
