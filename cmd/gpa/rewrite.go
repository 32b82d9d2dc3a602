package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"gpa/cubin/rewrite"
)

// rewriteFlags are the choices of gpa rewrite.
type rewriteFlags struct {
	check bool
}

func rewriteCommand() command {
	return command{
		name: "rewrite", args: "CUBIN|KERNEL", short: "check the control codes of a cubin",
		long: `The argument is a cubin or a built-in kernel.

--check follows all paths and prints each dependence (RAW, WAW, WAR) of registers, predicates and convergence barriers
that neither stall counts nor a dependence counter cover, and fails if there are any. Hardware does not check this.`,
		setup: func(flags *pflag.FlagSet) action {
			var f rewriteFlags
			flags.BoolVar(&f.check, "check", false, "check that control codes cover every dependence")
			return func(_ context.Context, e *env, args []string) error {
				name, err := oneArgument(args, "the cubin")
				if err != nil {
					return err
				}
				return f.run(e, name)
			}
		},
	}
}

func (f *rewriteFlags) run(e *env, name string) error {
	if !f.check {
		return usagef("say what to do: --check")
	}
	file, err := openModule(name)
	if err != nil {
		return err
	}
	found, err := rewrite.Check(file)
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	for _, x := range found {
		fmt.Fprintln(e.stdout, x)
	}
	if len(found) > 0 {
		return failure{fmt.Errorf("%s: %d dependences are not covered", file.Name, len(found))}
	}
	fmt.Fprintf(e.stdout, "%s: all dependences are covered\n", file.Name)
	return nil
}
