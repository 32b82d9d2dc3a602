package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"gpa/kernels"
	"gpa/reports"
)

// helpWidth is the most columns that help takes.
const helpWidth = 100

// helpColumns is the width of help on the terminal at hand.
func (e *env) helpColumns() int {
	if e.terminal.Width == 0 {
		return helpWidth
	}
	return max(40, min(helpWidth, e.terminal.Width))
}

// printHelp prints what --help says of a command.
func (c *command) printHelp(e *env, flags *pflag.FlagSet) {
	w, width := e.stdout, e.helpColumns()
	fmt.Fprintf(w, "gpa %s: %s\n\nUsage: gpa %s %s\n", c.name, c.short, c.name, c.usage())
	if text := helpText(c.name); text != "" {
		fmt.Fprintf(w, "\n%s", reports.Reflow(text, width))
	}
	if flags.HasFlags() {
		fmt.Fprintf(w, "\nFlags:\n%s", flags.FlagUsagesWrapped(width))
	}
	if list := examplesOf(c.name); len(list) > 0 {
		fmt.Fprint(w, "\nExamples:\n")
		for _, x := range list {
			fmt.Fprintf(w, "  # %s\n  %s\n", x.what, reports.ShellQuoted(x.line))
		}
	}
	fmt.Fprint(w, "\nExit status: 0 done, 1 the kernel or a check failed, 2 the command line or an input is wrong,\n3 gpa itself failed (please report it).\n")
}

//go:embed help
var helpFiles embed.FS

// helpText is what help says about a command, or about what several have in common; "" for nothing.
func helpText(name string) string {
	data, err := helpFiles.ReadFile("help/" + name + ".txt")
	if err != nil {
		return ""
	}
	text := strings.TrimSuffix(string(data), "\n")
	for _, common := range []string{"KERNEL", "PROGRAM"} {
		if place := "{" + common + "}"; strings.Contains(text, place) {
			text = strings.ReplaceAll(text, place, helpText(common))
		}
	}
	return strings.ReplaceAll(text, "{BENCHMARKS}", fmt.Sprint(len(kernels.Benchmarks())))
}

// An example is a command line that help shows, with what it is for.
type example struct{ line, what string }

// examplesOf are the examples of a command. They build on each other: profile leaves the folder before, disasm text, export samples.
func examplesOf(command string) (list []example) {
	for line := range strings.Lines(helpText("examples")) {
		if line, what, ok := strings.Cut(strings.TrimSpace(line), "  # "); ok && strings.HasPrefix(line+" ", "gpa "+command+" ") {
			list = append(list, example{line, what})
		}
	}
	return list
}
