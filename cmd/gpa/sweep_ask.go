package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"gpa/advisor/tune/search"
	"gpa/advisor/tune/sweep"
)

// readPoint reads one of the JSON objects that ask and tell take: the value of each axis.
func readPoint(object map[string]any) map[string]search.Value {
	at := make(map[string]search.Value, len(object))
	for name, v := range object {
		at[name] = search.ValueOf(v)
	}
	return at
}

// points are those that gpa sweep ask reads.
type points struct {
	out chan map[string]search.Value
	err error // once out is closed: why no more could be read
}

// askPoints reads points until the input ends, or ctx.
func askPoints(ctx context.Context, in io.Reader) *points {
	p := &points{out: make(chan map[string]search.Value)}
	go func() {
		defer close(p.out)
		lines := json.NewDecoder(in)
		lines.UseNumber()
		for {
			var object map[string]any
			switch err := lines.Decode(&object); {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				p.err = usagef("a point is a JSON object with a value for each axis: %w", err)
				return
			}
			select {
			case p.out <- readPoint(object):
			case <-ctx.Done():
				return
			}
		}
	}()
	return p
}

// tell is gpa sweep tell.
func (f *sweepFlags) tell(s *sweep.Sweep) error {
	var list []sweep.Result
	lines := json.NewDecoder(os.Stdin)
	lines.UseNumber()
	for {
		var line struct {
			Point   map[string]any  `json:"point"`
			Outcome *search.Outcome `json:"outcome"`
		}
		switch err := lines.Decode(&line); {
		case errors.Is(err, io.EOF):
			return s.Tell(list)
		case err != nil:
			return usagef("an outcome is a JSON object with a point and an outcome: %w", err)
		case line.Outcome == nil || !search.Known(line.Outcome.Status):
			return usagef("the outcome of %v has no status as ok", line.Point)
		}
		list = append(list, sweep.Result{Point: readPoint(line.Point), Outcome: line.Outcome})
	}
}
