package reports

import (
	"fmt"
	"io"
)

// RunText writes how the launches of a launch file ran, for people: their faults, how its outputs came out, in words, and what ran.
func RunText(w io.Writer, r *Result, file string, outputs []string) error {
	var instructions int64
	var seconds float64
	for i, l := range r.Profile.Launches {
		instructions += l.Facts.WarpInstructions
		seconds += r.Launches[i].Seconds
		if l.Fault != nil {
			fmt.Fprintln(w, l.Fault.Message)
		}
	}
	for _, text := range outputs {
		fmt.Fprintln(w, text)
	}
	launches := "1 launch"
	if n := len(r.Profile.Launches); n != 1 {
		launches = fmt.Sprintf("%d launches", n)
	}
	_, err := fmt.Fprintf(w, "%s: %s, %d warp instructions in %.2f s\n", file, launches, instructions, seconds)
	return err
}
