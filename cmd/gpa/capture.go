package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"gpa/emu/capture"
	"gpa/reports/files"
)

// captureFlags are the flags of gpa capture.
type captureFlags struct {
	target  target
	machine machineFlags
	program programFlags
	out     string
}

func captureCommand() command {
	return command{
		runs: true, name: "capture", args: "-- CMD …", short: "run a program and write its launches as launch files",
		long: `CMD runs as with gpa run -- CMD. Each launch that --kernel (a regular expression), --launch-skip and --launch-count select becomes a
folder of --out that all other commands take in place of KERNEL: launch.yaml, with the module, the memory that the kernel touches as it was before, and
what it holds after as expectations. Their files are in the folder data beside it, each content once.

A capture is written if gpa run of it ends as the launch did, with the same bytes in memory. Of other launches gpa says why there is none.`,
		setup: func(flags *pflag.FlagSet) action {
			var f captureFlags
			flags.StringVar(&f.out, "out", "", "write the captures to `DIR`, which is new or empty")
			f.machine.register(flags)
			f.target.register(flags)
			f.program.registerSelection(flags, "capture")
			return f.run
		},
	}
}

func (f *captureFlags) run(ctx context.Context, e *env, args []string) error {
	switch {
	case !f.program.given():
		return usagef("gpa capture takes a program: --out DIR -- CMD …")
	case len(args) == 0:
		return usagef("there is no program behind --")
	case f.out == "":
		return usagef("--out is missing: the folder for the captures")
	}
	if list, err := os.ReadDir(f.out); err == nil && len(list) > 0 {
		return usagef("--out: %s is not empty", f.out)
	}
	o, err := f.program.options(e, &f.target, &f.machine)
	if err != nil {
		return err
	}
	folder := &captureFolder{path: f.out}
	o.Capture = folder.add
	p, err := newProgram(e, o)
	if err != nil {
		return err
	}
	ended := p.run(ctx, args)
	var status programStatus
	if ended != nil && !errors.As(ended, &status) {
		return ended
	}
	if folder.err != nil {
		return folder.err
	}
	if folder.count > 0 {
		fmt.Fprintf(e.stderr, "gpa: %s in %s\n", counts(folder.count, "capture"), f.out)
	}
	return ended
}

// counts is a number of things.
func counts(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// A captureFolder is where captures are written.
type captureFolder struct {
	path  string
	count int
	err   error // of writing, the first
}

// add writes a capture, unless one could not be written.
func (f *captureFolder) add(number int, kernel string, c *capture.Capture) {
	if err := f.write(number, kernel, c); err != nil && f.err == nil {
		f.err = err
	}
}

// write writes a capture to a folder named by the number of the launch and the kernel, and its files to one for all.
func (f *captureFolder) write(number int, kernel string, c *capture.Capture) error {
	folder := filepath.Join(f.path, fmt.Sprintf("%04d-%s", number, fileName(kernel)))
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
	f.count++
	return files.WriteOne(filepath.Join(folder, launchFileName), c.Text)
}

// notInName is what takes the place of one dash in a file name.
var notInName = regexp.MustCompile(`[^0-9A-Za-z_]+`)

// fileName makes a file name of a kernel's.
func fileName(kernel string) string {
	const longest = 60
	plain := notInName.ReplaceAllString(kernel, "-")
	return strings.Trim(plain[:min(len(plain), longest)], "-")
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
