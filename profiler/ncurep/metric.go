package ncurep

import (
	"fmt"
	"math"
)

// A Metric is a measured value, or one for each instruction.
type Metric struct {
	Name  string
	Value Value
	// Instances holds the parts of the value by what they are of: the address of an instruction, as a rule.
	Instances []Instance
}

// An Instance is the part of a metric that belongs to ID, or to Name where what it is of has a name.
type Instance struct {
	ID    uint64
	Name  string
	Value Value
}

// A Value is a number or a text.
type Value struct {
	Number float64 // exact up to 2^53
	Text   string
}

// count returns the value as a count; false where it is none.
func (v Value) count() (int64, bool) {
	if v.Number < 0 || v.Number != math.Trunc(v.Number) || v.Number > 1<<53 {
		return 0, false
	}
	return int64(v.Number), true
}

// Metrics decodes the metrics of a launch whose names are wanted, all where wanted is nil. Of several of one name the last counts.
func (r *Report) Metrics(launch int, wanted func(name string) bool) (map[string]*Metric, error) {
	metrics := make(map[string]*Metric)
	for i, message := range r.Results[launch].metrics {
		m, err := r.metric(message, wanted)
		if err != nil {
			return nil, fmt.Errorf("metric %d: %w", i, err)
		}
		if m != nil {
			metrics[m.Name] = m
		}
	}
	return metrics, nil
}

// metric decodes a metric, nil where it is not wanted.
func (r *Report) metric(message []byte, wanted func(name string) bool) (*Metric, error) {
	m := new(Metric)
	if err := each(message, func(f field) error {
		if f.id != 1 {
			return nil
		}
		if f.number >= uint64(len(r.strings)) {
			return fmt.Errorf("its name has the number %d in a table of %d", f.number, len(r.strings))
		}
		m.Name = r.strings[f.number]
		return nil
	}); err != nil {
		return nil, err
	}
	if m.Name == "" && len(r.strings) > 0 {
		m.Name = r.strings[0] // a number 0 may be left out
	}
	if wanted != nil && !wanted(m.Name) {
		return nil, nil
	}
	err := each(message, func(f field) (err error) {
		switch f.id {
		case 2:
			m.Value, err = value(f.data)
		case 3:
			var in Instance
			in, err = instance(f.data)
			m.Instances = append(m.Instances, in)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	return m, nil
}

// instance decodes a part of a value: 1 is what it is of, 2 the value.
func instance(message []byte) (in Instance, err error) {
	err = each(message, func(f field) (err error) {
		switch f.id {
		case 1:
			in.ID, in.Name, err = identifier(f.data)
		case 2:
			in.Value, err = value(f.data)
		}
		return err
	})
	return in, err
}

// value decodes a value: 1 a text, 2 and 3 floating point of 32 and 64 bits, 4 and 5 integers of 32 and 64 bits.
func value(message []byte) (v Value, err error) {
	err = each(message, func(f field) error {
		switch {
		case f.id == 1:
			v.Text = string(f.data)
		case f.id == 2 && f.wire == wireFixed4:
			v.Number = float64(math.Float32frombits(uint32(f.number)))
		case f.id == 3 && f.wire == wireFixed8:
			v.Number = math.Float64frombits(f.number)
		case f.id == 4 || f.id == 5:
			v.Number = float64(f.number)
		}
		return nil
	})
	return v, err
}

// identifier decodes what an instance is of: an address with all its 64 bits, or a name.
func identifier(message []byte) (id uint64, name string, err error) {
	err = each(message, func(f field) error {
		switch f.id {
		case 1:
			name = string(f.data)
		case 4, 5:
			id = f.number
		}
		return nil
	})
	return id, name, err
}
