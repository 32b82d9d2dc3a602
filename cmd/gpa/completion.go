package main

import (
	"context"
	"embed"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/pflag"

	"gpa/kernels"
)

func completionCommand() command {
	return command{
		name: "completion", args: "bash|zsh|fish", short: "print a script that completes commands, flags and built-in kernels in a shell",
		setup: func(*pflag.FlagSet) action {
			return withArgument("the shell", func(_ context.Context, e *env, shell string) error {
				if !slices.Contains([]string{"bash", "zsh", "fish"}, shell) {
					return usagef("%q is none of bash, zsh and fish", shell)
				}
				return complete(e.stdout, shell)
			})
		},
	}
}

//go:embed completion
var completionFiles embed.FS

// A completed is a command as the scripts know it.
type completed struct {
	Name, Short string
	Flags       []completedFlag
	Kernels     []string // that complete its argument
}

type completedFlag struct {
	Name, Usage string
	Value       bool
}

// complete writes the script of a shell.
func complete(w io.Writer, shell string) error {
	t, err := template.New("").Funcs(template.FuncMap{"join": strings.Join, "quote": quoteFish}).ParseFS(completionFiles, "completion/*.tmpl")
	if err != nil {
		return err
	}
	var list []completed
	for _, c := range commands() {
		x := completed{Name: c.name, Short: c.short}
		for _, f := range flagsOf(&c) {
			_, usage := pflag.UnquoteUsage(f)
			first, _, _ := strings.Cut(usage, "\n")
			x.Flags = append(x.Flags, completedFlag{f.Name, first, f.NoOptDefVal == ""})
		}
		if strings.Contains(c.args, "KERNEL") {
			x.Kernels = kernels.Names()
		}
		list = append(list, x)
	}
	return t.ExecuteTemplate(w, shell+".tmpl", list)
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

func quoteFish(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
