package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"gpa/reports"
)

// helpWidth is the most columns that help takes.
const helpWidth = 100

// helpColumns is the width of help on the terminal at hand.
func (e *env) helpColumns() int {
	if e.terminal.width == 0 {
		return helpWidth
	}
	return max(40, min(helpWidth, e.terminal.width))
}

// printHelp prints what --help says of a command.
func (c *command) printHelp(e *env, flags *pflag.FlagSet) {
	w, width := e.stdout, e.helpColumns()
	fmt.Fprintf(w, "gpa %s: %s\n\nUsage: gpa %s %s\n", c.name, c.short, c.name, c.usage())
	if c.long != "" {
		fmt.Fprintf(w, "\n%s", reflow(c.long, width))
	}
	if flags.HasFlags() {
		fmt.Fprintf(w, "\nFlags:\n%s", flags.FlagUsagesWrapped(width))
	}
	if list := examplesOf(c.name); len(list) > 0 {
		fmt.Fprint(w, "\nExamples:\n")
		for _, x := range list {
			fmt.Fprintf(w, "  # %s\n  %s\n", x.what, quoted(x.line))
		}
	}
	fmt.Fprint(w, "\nExit status: 0 done, 1 the kernel or a check failed, 2 the command line or an input is wrong,\n3 gpa itself failed (please report it).\n")
}

// quoted puts what a shell would take for something else between quotes.
func quoted(line string) string {
	words := strings.Fields(line)
	for i, word := range words {
		if strings.ContainsAny(word, "[](){}*") {
			words[i] = "'" + word + "'"
		}
	}
	return strings.Join(words, " ")
}

// reflow fills the lines of paragraphs to a width. A paragraph with an indented line stays as it is.
func reflow(text string, width int) string {
	var out strings.Builder
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		if strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ") || strings.Contains(paragraph, ":  ") {
			out.WriteString(paragraph + "\n")
			continue
		}
		out.WriteString(strings.Join(reports.Wrap(paragraph, width), "\n") + "\n")
	}
	return out.String()
}
