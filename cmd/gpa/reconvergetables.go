package main

import (
	"context"
	"fmt"
	"path/filepath"

	"gpa/advisor/evaluation"
	"gpa/emu"
	"gpa/emu/convergence"
)

// runTables prints the papers' tables for the launch files of a folder. Those that cannot be compared are named on standard
// error.
func (f *reconvergeFlags) runTables(ctx context.Context, e *env, folder string) error {
	if len(f.models) > 0 || f.json {
		return usagef("--tables has all models, and no JSON")
	}
	files, err := evaluation.FilesNamed(folder, launchFileName)
	if err != nil {
		return err
	}
	o := convergence.Options{HostMemory: emu.FreeMemory}
	if err := f.options(&o); err != nil {
		return err
	}
	o.Models, o.Timing = convergence.TableRows(), emu.TimingNone
	var subjects []convergence.Subject
	failed := 0
	for _, name := range files {
		list, err := f.compareFile(ctx, name, o)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			fmt.Fprintf(e.stderr, "gpa: %s: %v\n", name, err)
			failed++
			continue
		}
		dir := filepath.Dir(name)
		subjects = append(subjects, convergence.Subjects(filepath.Base(filepath.Dir(dir)), filepath.Base(dir), list)...)
	}
	if err := convergence.WriteTables(e.stdout, subjects); err != nil {
		return err
	}
	if err := endedEarly(ctx); err != nil {
		return err
	}
	if failed > 0 {
		return failure{fmt.Errorf("%d of %d launch files left out", failed, len(files))}
	}
	return nil
}

func (f *reconvergeFlags) compareFile(ctx context.Context, name string, o convergence.Options) ([]convergence.Launch, error) {
	r, err := f.target.resolve(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	return convergence.Compare(ctx, r.File, r.Module, r.GPU, o)
}
