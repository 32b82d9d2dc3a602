// Package evaluation holds what gpa says against what is known: its advice against pairs of kernels before and after a change and ladders of kernels that
// were made faster step by step, its blame against the true producers of stalls, its cycles against measured ones, and launches that are timed in part
// against whole ones. Package reports has the tables.
package evaluation

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"

	"gpa"
)

// An Evaluator evaluates what lies under folders. The zero value runs each kernel on the GPU of its cubin.
type Evaluator struct {
	GPU     string // to run on, as [gpa.LoadOptions] has it
	Options gpa.Options
	LeftOut func(file string, why error) // is told of launch files that an evaluation leaves out, nil for nobody
}

// stage tells what is done.
func (v *Evaluator) stage(what string) (end func()) {
	if v.Options.Progress == nil {
		return func() {}
	}
	return v.Options.Progress.Stage(what)
}

// result profiles a kernel or reads a saved result, and advises on it; with try, the advice on what is profiled is tried.
func (v *Evaluator) result(ctx context.Context, name string, try *gpa.TryOptions) (*gpa.Result, error) {
	return gpa.ResultOf(ctx, name, gpa.LoadOptions{GPU: v.GPU}, v.Options, gpa.Analysis{Try: try})
}

// eachFile calls do with every file of a name under a folder, up to the first error.
func (v *Evaluator) eachFile(root, name, what string, do func(file string) error) error {
	files, err := FilesNamed(root, name)
	if err != nil {
		return err
	}
	for i, file := range files {
		end := v.stage(fmt.Sprintf("%s %d of %d", what, i+1, len(files)))
		err := do(file)
		end()
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// FilesNamed lists the files of a name under a folder.
func FilesNamed(root, name string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == name {
			files = append(files, path)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there is no %s under %s", name, root)
	}
	return files, err
}
