package ncurep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A ChoiceError is of a choice among the launches of a report that there is none of.
type ChoiceError struct {
	By   string // what was chosen by, launch or kernel
	text string
}

// Error is one line.
func (e *ChoiceError) Error() string { return e.text }

// Choose returns the launches with the given numbers, which count from 0 and have commas between, or all, that are of the given kernel; either may
// be "". It is nil where both are.
func (r *Report) Choose(launches, kernel string) (chosen []int, err error) {
	if launches == "" && kernel == "" {
		return nil, nil
	}
	asked, err := r.numbers(launches)
	if err != nil {
		return nil, err
	}
	for _, i := range asked {
		if kernel == "" || r.Results[i].IsOf(kernel) {
			chosen = append(chosen, i)
		}
	}
	if len(chosen) == 0 {
		return nil, &ChoiceError{"kernel", fmt.Sprintf("no such launch of %q; --list tells which there are", kernel)}
	}
	return chosen, nil
}

// numbers reads a list of launches.
func (r *Report) numbers(list string) (numbers []int, err error) {
	if list == "" || list == "all" {
		for i := range r.Results {
			numbers = append(numbers, i)
		}
		return numbers, nil
	}
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || n >= len(r.Results) {
			return nil, &ChoiceError{"launch", fmt.Sprintf("%q is none of the %d launches, which are counted from 0", word, len(r.Results))}
		}
		if !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}

// HoldsCubins reports whether the file holds the cubins of all launches that were chosen, nil for the first: another could only be one that did not
// run.
func (r *Report) HoldsCubins(chosen []int) bool {
	if chosen == nil {
		chosen = []int{0}
	}
	return !slices.ContainsFunc(chosen, func(launch int) bool { return !r.HoldsCubin(launch) })
}
