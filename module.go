package gpa

import (
	"fmt"
	"os"
	"path/filepath"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/kernels"
)

// ModuleOptions choose one of the cubins that a file may hold. The zero value is for files that hold one.
type ModuleOptions struct {
	Arch  sass.Arch // for this architecture, 0 for any
	Entry int       // of this number as [cubin.Entries] lists them, counted from 1; 0 for none chosen
}

// LoadModule reads the cubin that a name stands for: a file, one of those that a fatbin, executable, library or archive holds, or the one of a launch
// file or built-in kernel.
func LoadModule(name string, o ModuleOptions) (*cubin.File, error) {
	isLaunch := kernels.Has(name) || filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml"
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		isLaunch = true
	}
	if isLaunch {
		file, err := LoadFile(name, LoadOptions{})
		if err != nil {
			return nil, err
		}
		return file.LoadModule(o.Arch)
	}
	if o.Arch == 0 && o.Entry == 0 {
		return cubin.Open(name)
	}
	data, err := cubin.ReadFile(name)
	if err != nil {
		return nil, err
	}
	label, code, err := o.pick(name, data)
	if err != nil {
		return nil, err
	}
	file, err := cubin.NewFile(label, code)
	if err == nil && o.Arch != 0 && file.Arch != o.Arch {
		return nil, fmt.Errorf("%s is for sm_%d, not sm_%d", label, file.Arch, o.Arch)
	}
	return file, err
}

// pick returns the chosen cubin of a file, and its name.
func (o *ModuleOptions) pick(name string, data []byte) (label string, code []byte, err error) {
	if o.Entry == 0 {
		return cubin.Pick(name, data, o.Arch)
	}
	list, problem := cubin.Entries(data)
	if problem != nil && len(list) == 0 {
		return "", nil, fmt.Errorf("%s: %w", name, problem)
	}
	return cubin.ReadEntry(name, list, o.Entry-1)
}
