package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"gpa"
)

// registerSource declares the flag that names a folder with sources.
func registerSource(flags *pflag.FlagSet, folder *string) {
	flags.StringVar(folder, "source", "", "look for source files below `DIR`, or in that of a source file, first, then beside the kernel or the result, and nowhere else")
}

// missedSources says which sources were not found, and where they were looked for.
func missedSources(w io.Writer, s gpa.Sources) {
	const shown = 3
	list, where := s.Missing()
	if len(list) == 0 || len(where) == 0 {
		return
	}
	more := ""
	if len(list) > shown {
		list, more = list[:shown], fmt.Sprintf(" and %d more", len(list)-shown)
	}
	fmt.Fprintf(w, "gpa: sources not found below %s: %s%s (--source DIR looks below DIR)\n", strings.Join(where, ", "), strings.Join(list, ", "), more)
}
