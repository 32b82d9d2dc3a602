package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"gpa/emu/cuda"
	"gpa/profiler/program"
)

// serveFlags are the flags of gpa serve.
type serveFlags struct {
	launchFlags
}

func serveCommand() command {
	return command{
		runs: true, name: "serve", short: "keep an emulated GPU for several programs",
		setup: func(flags *pflag.FlagSet) action {
			var f serveFlags
			f.launchFlags.register(flags)
			return f.run
		},
	}
}

func (f *serveFlags) run(ctx context.Context, e *env, args []string) error {
	if len(args) > 0 {
		return usagef("gpa serve takes no argument; gpa run -- CMD runs one program")
	}
	var none programFlags
	o, err := none.options(e, &f.launchFlags)
	if err != nil {
		return err
	}
	o.Folder = cuda.SharedFolder()
	p, err := program.New(o)
	if err != nil {
		return err
	}
	if err := p.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "gpa: serving %s until interrupted; in the shell of the programs: eval \"$(gpa env)\"\n", o.GPU.Product)
	<-ctx.Done()
	if err := p.Close(); err != nil {
		return err
	}
	p.WriteNotes(e.stderr)
	return p.Table(e.stderr, e.style())
}

func envCommand() command {
	return command{
		name: "env", short: "print the variables by which programs find the GPU of gpa serve",
		setup: func(*pflag.FlagSet) action {
			return func(_ context.Context, e *env, args []string) error {
				if len(args) > 0 {
					return usagef("gpa env takes no argument")
				}
				folder := cuda.SharedFolder()
				if err := cuda.Serving(folder); err != nil {
					return fmt.Errorf("%w: start gpa serve", err)
				}
				_, err := fmt.Fprint(e.stdout, cuda.Exports(folder, os.Environ()))
				return err
			}
		},
	}
}
