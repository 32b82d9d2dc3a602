package main

import (
	"context"
	"os"
	"path/filepath"

	"gpa/cubin/compile"
	"gpa/cubin/sass"
)

// command is the command line of a program: what stands behind --, or a source with a function main, compiled, with the arguments that stand
// behind -- for it. Of a source whose launch is described a kernel alone is meant. It is nil where KERNEL is no program.
func (f *programFlags) command(ctx context.Context, l *launchFlags, args []string) ([]string, error) {
	dash := f.flags.ArgsLenAtDash()
	switch {
	case dash == 0:
		return append([]string{}, args...), nil // not nil
	case len(args) == 0 || len(args) > 1 && dash != 1 || !compile.IsSource(args[0]) || l.target.Grid[0] != 0:
		return nil, nil
	}
	text, err := os.ReadFile(args[0])
	if err != nil || !compile.IsProgram(text) {
		return nil, nil // what is wrong with it is said where it is loaded
	}
	model, err := l.target.model()
	if err != nil {
		return nil, err
	}
	program, err := l.builds.Program(ctx, args[0], sass.Arch(model.Arch))
	if err != nil {
		return nil, err
	}
	f.sources = filepath.Dir(args[0])
	return append([]string{program}, args[1:]...), nil
}
