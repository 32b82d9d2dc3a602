package listing

import (
	"fmt"
	"io"
	"strings"

	"gpa/cubin"
)

// A CutOffError is why the list of a file's entries ends before the file does.
type CutOffError struct{ Err error }

// Error is one line.
func (e *CutOffError) Error() string { return e.Err.Error() + " (the list ends before that)" }

// Unwrap returns why.
func (e *CutOffError) Unwrap() error { return e.Err }

// Entries prints the device code that a file holds, and why an entry cannot be read. What cannot be read behind the last one is a *CutOffError; there
// is no list where there is no entry.
func Entries(w io.Writer, name string) error {
	data, err := cubin.ReadFile(name)
	if err != nil {
		return err
	}
	list, err := cubin.Entries(data)
	for i := range list {
		e := &list[i]
		note := e.Compression
		if _, problem := e.Read(); problem != nil {
			note = "cannot be read: " + problem.Error()
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%5d  %-6s sm_%-4d %9d bytes  %s %s %s", i+1, e.Kind, e.SM, e.Size, e.Where, e.Name, note), " "))
	}
	if err == nil {
		return nil
	}
	if err = fmt.Errorf("%s: %w", name, err); len(list) > 0 {
		return &CutOffError{err}
	}
	return err
}
