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

	"gpa/cubin"
	"gpa/kernels"
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

// noKernel is the error of a KERNEL argument that names nothing.
func noKernel(name string) error {
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
	return fmt.Errorf("%s is neither a built-in kernel nor a file%s", name, near)
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

// noLaunchFile is the error of a folder without a launch file.
func noLaunchFile(folder string) error {
	below, err := filepath.Glob(filepath.Join(folder, "*", launchFileName))
	if err != nil || len(below) == 0 {
		return fmt.Errorf("there is no %s in %s; the README shows what one holds", launchFileName, folder)
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
	return fmt.Errorf("there is no %s in %s; there are kernels in %s%s", launchFileName, folder, strings.Join(names, ", "), more)
}

// notCompiled is the error of a source file in place of a cubin; nil for other files.
func notCompiled(name string) error {
	base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	switch filepath.Ext(name) {
	case ".cu", ".cuh":
		return fmt.Errorf("%s is source: gpa takes what nvcc -cubin -arch=sm_70 -lineinfo -o %s.cubin %s makes of it", name, base, name)
	case ".ptx":
		return fmt.Errorf("%s is PTX: gpa takes what ptxas -arch=sm_70 -lineinfo -o %s.cubin %s makes of it", name, base, name)
	}
	return nil
}

// parametersOf says what arguments the kernels of a module take.
func parametersOf(module *cubin.File) string {
	var list []string
	for _, k := range module.Kernels {
		sizes := make([]string, len(k.Params))
		for i, p := range k.Params {
			sizes[i] = fmt.Sprint(p.Size)
		}
		list = append(list, fmt.Sprintf("%s(%s)", k.Demangled, strings.Join(sizes, ", ")))
	}
	const most = 4
	if len(list) > most {
		list = append(list[:most], fmt.Sprintf("%d more", len(list)-most))
	}
	return strings.Join(list, ", ")
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
