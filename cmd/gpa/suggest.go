package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/kernels"
	"gpa/reports/listing"
)

// suggestion is the end of a message about a name that is not known: the known one that it was most likely meant to be, or nothing.
func suggestion(name string, known []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, k := range known {
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if name != "" && strings.HasPrefix(k, name) {
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance is the number of bytes to insert, delete, replace or swap with their neighbour to make b of a (the optimal string
// alignment distance).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// suggestFlag adds the flag that was most likely meant to the error of one that is not known.
func suggestFlag(err error, flags *pflag.FlagSet) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return err
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	s := suggestion(unknown.GetSpecifiedName(), names)
	return fmt.Errorf("%w%s", err, strings.Replace(s, "mean ", "mean --", 1))
}

// explained is an error of the library as it is told on a command line: with what was probably meant, and with the flags that would help.
func explained(err error) error {
	var missing *gpa.NotFoundError
	var folder *gpa.NoLaunchFileError
	var undescribed *gpa.UndescribedError
	var function *listing.NoFunctionError
	switch {
	case errors.As(err, &function):
		return fmt.Errorf("%w%s", err, nearFunction(function))
	case errors.As(err, &missing):
		return fmt.Errorf("%w%s", err, nearKernel(missing.Name))
	case errors.As(err, &folder):
		return fmt.Errorf("%w; %s", err, kernelsBelow(folder.Folder))
	case errors.As(err, &undescribed):
		return inFlags(err, undescribed, "a cubin needs --grid, --block and an --arg for each parameter; this has, with parameters of so many bytes: "+undescribed.Kernels())
	case errors.Is(err, gpa.ErrDescribed):
		return inFlags(err, gpa.ErrDescribed, "--kernel, --grid, --block, --shared and --arg go with a cubin, not with a launch file")
	}
	return err
}

// nearFunction is the end of a message about a function that a module does not have.
func nearFunction(e *listing.NoFunctionError) string {
	var names []string
	for _, code := range e.Module.Codes {
		for i := range code.Functions {
			names = append(names, code.Functions[i].Demangled)
		}
	}
	if near := suggestion(e.Name, names); near != "" {
		return near
	}
	return "; gpa cfg lists them"
}

// inFlags says what an error is about in the words of the command line.
func inFlags(err, about error, text string) error {
	return usageError{errors.New(strings.Replace(err.Error(), about.Error(), text, 1))}
}

// nearKernel is the end of a message about a KERNEL that names nothing.
func nearKernel(name string) string {
	near := suggestion(name, kernels.Names())
	if folder := filepath.Dir(name); near == "" {
		near = suggestion(filepath.Base(name), entryNames(folder))
		if near != "" && folder != "." {
			near = strings.Replace(near, "mean ", "mean "+folder+string(filepath.Separator), 1)
		}
	}
	if near == "" {
		near = "; gpa profile lists the built-in ones"
	}
	return near
}

// entryNames lists a folder; nothing where it cannot be read.
func entryNames(folder string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// kernelsBelow says where there are launch files, for who named a folder without one.
func kernelsBelow(folder string) string {
	below, err := filepath.Glob(filepath.Join(folder, "*", launchFileName))
	if err != nil || len(below) == 0 {
		return "the README shows what one holds"
	}
	const most = 8
	var names []string
	for _, file := range below[:min(len(below), most)] {
		names = append(names, filepath.Dir(file))
	}
	more := ""
	if len(below) > most {
		more = fmt.Sprintf(" and %d more", len(below)-most)
	}
	return fmt.Sprintf("there are kernels in %s%s", strings.Join(names, ", "), more)
}

// noResult makes a better error of a saved result that is not there.
func noResult(name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if slices.Contains(kernels.Names(), filepath.Dir(name)) || slices.Contains(kernels.Names(), name) {
		return fmt.Errorf("%s is a built-in kernel, not a saved result; gpa profile %s --out DIR saves one", name, name)
	}
	return fmt.Errorf("there is no saved result %s; gpa profile KERNEL --out DIR saves one", name)
}
