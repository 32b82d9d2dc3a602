package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gpa/advisor/tune/search"
)

// Points are what somebody asks for who searches by himself: JSON objects with the value of each axis, one after the other.
type Points struct {
	C   <-chan map[string]search.Value // closed where no more come
	err error                          // once C is closed
}

// Err is why no more could be read, once C is closed; nil at the end of the input.
func (p *Points) Err() error { return p.err }

// ReadPoints reads points until the input ends, or ctx.
func ReadPoints(ctx context.Context, in io.Reader) *Points {
	c := make(chan map[string]search.Value)
	p := &Points{C: c}
	go func() {
		defer close(c)
		lines := json.NewDecoder(in)
		lines.UseNumber()
		for {
			var object map[string]any
			switch err := lines.Decode(&object); {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				p.err = fmt.Errorf("a point is a JSON object with a value for each axis: %w", err)
				return
			}
			select {
			case c <- readPoint(object):
			case <-ctx.Done():
				return
			}
		}
	}()
	return p
}

// readPoint is the value of each axis in a JSON object.
func readPoint(object map[string]any) map[string]search.Value {
	at := make(map[string]search.Value, len(object))
	for name, v := range object {
		at[name] = search.ValueOf(v)
	}
	return at
}

// ReadOutcomes reads outcomes of points, JSON objects with both, for [Sweep.Tell].
func ReadOutcomes(in io.Reader) (list []Result, err error) {
	lines := json.NewDecoder(in)
	lines.UseNumber()
	for {
		var line struct {
			Point   map[string]any  `json:"point"`
			Outcome *search.Outcome `json:"outcome"`
		}
		switch err := lines.Decode(&line); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("an outcome is a JSON object with a point and an outcome: %w", err)
		case line.Outcome == nil || !search.Known(line.Outcome.Status):
			return nil, fmt.Errorf("the outcome of %v has no status as ok", line.Point)
		}
		list = append(list, Result{Point: readPoint(line.Point), Outcome: line.Outcome})
	}
}
