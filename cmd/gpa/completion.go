package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"gpa/kernels"
)

func completionCommand() command {
	return command{
		name: "completion", args: "bash|zsh|fish", short: "print a script that completes commands, flags and built-in kernels in a shell",
		setup: func(*pflag.FlagSet) action {
			return withArgument("the shell", func(_ context.Context, e *env, shell string) error {
				write := completionOf(shell)
				if write == nil {
					return usagef("%q is none of bash, zsh and fish", shell)
				}
				return write(e.stdout)
			})
		},
	}
}

// completionOf returns what writes the script of a shell, nil where it is not known.
func completionOf(shell string) func(io.Writer) error {
	switch shell {
	case "bash":
		return completeBash
	case "zsh":
		return completeZsh
	case "fish":
		return completeFish
	}
	return nil
}

// flagsOf lists the flags of a command.
func flagsOf(c *command) []*pflag.Flag {
	if c.setup == nil {
		return nil
	}
	set := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	set.SortFlags = false
	c.setup(set)
	new(env).register(set)
	var list []*pflag.Flag
	set.VisitAll(func(f *pflag.Flag) { list = append(list, f) })
	return list
}

// words lists the names of the commands.
func words() []string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// takesKernel reports whether built-in kernels complete a command's argument.
func takesKernel(c *command) bool { return strings.Contains(c.args, "KERNEL") }

func completeBash(w io.Writer) error {
	var b strings.Builder
	b.WriteString("_gpa() {\n  local word=${COMP_WORDS[COMP_CWORD]} list=\n  if [ \"$COMP_CWORD\" = 1 ]; then\n")
	fmt.Fprintf(&b, "    COMPREPLY=($(compgen -W %q -- \"$word\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n", strings.Join(words(), " "))
	for _, c := range commands() {
		var list []string
		for _, f := range flagsOf(&c) {
			list = append(list, "--"+f.Name)
		}
		if takesKernel(&c) {
			list = append(list, kernels.Names()...)
		}
		fmt.Fprintf(&b, "    %s) list=%q ;;\n", c.name, strings.Join(list, " "))
	}
	b.WriteString("  esac\n  COMPREPLY=($(compgen -W \"$list\" -- \"$word\") $(compgen -f -- \"$word\"))\n}\ncomplete -o filenames -F _gpa gpa\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// completeZsh lets zsh run the functions of bash.
func completeZsh(w io.Writer) error {
	if _, err := io.WriteString(w, "autoload -U +X bashcompinit && bashcompinit\n"); err != nil {
		return err
	}
	return completeBash(w)
}

func completeFish(w io.Writer) error {
	var b strings.Builder
	for _, c := range commands() {
		fmt.Fprintf(&b, "complete -c gpa -f -n __fish_use_subcommand -a %s -d %s\n", c.name, quoteFish(c.short))
		in := "__fish_seen_subcommand_from " + c.name
		for _, f := range flagsOf(&c) {
			_, usage := pflag.UnquoteUsage(f)
			first, _, _ := strings.Cut(usage, "\n")
			value := " -r"
			if f.NoOptDefVal != "" {
				value = ""
			}
			fmt.Fprintf(&b, "complete -c gpa -n %s -l %s%s -d %s\n", quoteFish(in), f.Name, value, quoteFish(first))
		}
		if takesKernel(&c) {
			fmt.Fprintf(&b, "complete -c gpa -n %s -a %s\n", quoteFish(in), quoteFish(strings.Join(kernels.Names(), " ")))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func quoteFish(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
