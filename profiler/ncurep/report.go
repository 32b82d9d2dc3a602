// Package ncurep reads the report files of NVIDIA Nsight Compute (.ncu-rep): what was measured of each launch on a real GPU,
// and the cubins that ran.
//
// The format is what the Nsight Compute Customization Guide describes under "Report File Format": four bytes "NVR\0", a file
// header, then blocks of a header with the strings that it adds to the table and a payload of sources and results, all of
// them protocol buffer messages after their size. Read are files of versions from 2021 to 2025.
//
// [Parse] finds the parts of a file, [Report.Launch] makes a profile of one launch and checks that its counts add up. A file
// of any content gives an error at worst, and takes memory in proportion to its size.
package ncurep

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"gpa/cubin"
)

// A Report is a file. Its parts share memory with the data that was parsed.
type Report struct {
	Results []Result
	Tool    string // the version of Nsight Compute that measured, empty where the file does not say

	strings []string // names of metrics, by number
	sources map[uint64]*source

	supplied *cubin.File // of launches whose own is not in the file
}

// A Result is what the file says of one launch.
type Result struct {
	Mangled   string // of the kernel
	Function  string // without parameters
	Demangled string // with parameters
	Grid      [3]int
	Block     [3]int

	sourceID uint64
	metrics  [][]byte // messages
	err      error    // why it cannot be read
}

// check returns why the result is no launch that can be read, nil where it is one.
func (r *Result) check() error {
	switch {
	case r.err != nil:
		return r.err
	case slices.Contains(r.Grid[:], 0) || slices.Contains(r.Block[:], 0):
		return errors.New("the file does not say its grid and block")
	}
	return nil
}

// A source is a module.
type source struct {
	cubin     []byte // empty in a message that only adds functions
	functions []function
}

// A function is where one of a module's functions was loaded.
type function struct {
	name    string // mangled
	address uint64
}

var magic = []byte("NVR\x00")

// Parse finds the sources and the results of a file.
func Parse(data []byte) (*Report, error) {
	if len(data) < len(magic) || string(data[:len(magic)]) != string(magic) {
		return nil, errors.New("not a report file of Nsight Compute: it does not begin with NVR")
	}
	r := &Report{sources: make(map[uint64]*source)}
	_, rest, err := sized(data[len(magic):])
	if err != nil {
		return nil, fmt.Errorf("file header: %w", err)
	}
	for n := 0; len(rest) > 0; n++ {
		if rest, err = r.block(rest); err != nil {
			return nil, fmt.Errorf("block %d, at byte %d: %w", n, len(data)-len(rest), err)
		}
	}
	return r, nil
}

// sized takes a message with its size before it.
func sized(data []byte) (message, rest []byte, err error) {
	if len(data) < 4 {
		return nil, data, errors.New("the file ends before the size of a message")
	}
	size := uint64(binary.LittleEndian.Uint32(data))
	if data = data[4:]; size > uint64(len(data)) {
		return nil, data, fmt.Errorf("the file ends %d bytes into a message of %d", len(data), size)
	}
	return data[:size], data[size:], nil
}

// block reads one block.
func (r *Report) block(data []byte) (rest []byte, err error) {
	message, rest, err := sized(data)
	if err != nil {
		return data, err
	}
	h, err := r.header(message)
	if err != nil {
		return data, fmt.Errorf("header: %w", err)
	}
	if h.payload > uint64(len(rest)) {
		return data, fmt.Errorf("the file ends %d bytes into a payload of %d", len(rest), h.payload)
	}
	payload, rest := rest[:h.payload], rest[h.payload:]
	for i := range h.sources {
		if message, payload, err = sized(payload); err == nil {
			err = r.source(message)
		}
		if err != nil {
			return data, fmt.Errorf("source %d: %w", i, err)
		}
	}
	for i := range h.results {
		if message, payload, err = sized(payload); err == nil {
			err = r.result(message)
		}
		if err != nil {
			return data, fmt.Errorf("result %d: %w", i, err)
		}
	}
	return rest, nil // what follows in the payload, as range results, is not of single launches
}

// A blockHeader says what a payload holds.
type blockHeader struct{ sources, results, payload uint64 }

// header reads the header of a block and adds its strings to the table.
func (r *Report) header(message []byte) (h blockHeader, err error) {
	err = each(message, func(f field) error {
		switch f.id {
		case 1:
			h.sources = f.number
		case 2:
			h.results = f.number
		case 3:
			return each(f.data, r.session)
		case 4:
			return each(f.data, func(f field) error {
				if f.id == 1 {
					r.strings = append(r.strings, string(f.data))
				}
				return nil
			})
		case 5:
			h.payload = f.number
		}
		return nil
	})
	return h, err
}

// session reads a field of the session's details: pairs of names and values, of which only the tool's version is kept.
func (r *Report) session(f field) error {
	if f.id != 8 {
		return nil
	}
	var name, value string
	err := each(f.data, func(f field) error {
		switch f.id {
		case 1:
			name = string(f.data)
		case 2:
			value = string(f.data)
		}
		return nil
	})
	if name == "Nsight Compute Target" {
		r.Tool = value
	}
	return err
}

// source reads a module, or what a later message adds to one.
func (r *Report) source(message []byte) error {
	var s source
	var id uint64
	err := each(message, func(f field) error {
		switch f.id {
		case 1:
			id = f.number
		case 4:
			s.cubin = f.data
		case 9:
			return each(f.data, s.function)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if old := r.sources[id]; old != nil {
		if old.functions = append(old.functions, s.functions...); len(s.cubin) > 0 {
			old.cubin = s.cubin
		}
		return nil
	}
	r.sources[id] = &s
	return nil
}

// function reads an entry of the list of functions.
func (s *source) function(f field) error {
	if f.id != 1 {
		return nil
	}
	var fn function
	err := each(f.data, func(f field) error {
		switch f.id {
		case 1:
			fn.name = string(f.data)
		case 2:
			fn.address = f.number
		}
		return nil
	})
	s.functions = append(s.functions, fn)
	return err
}

// result reads what was measured of one launch; metrics are decoded when they are asked for.
func (r *Report) result(message []byte) error {
	out := Result{}
	err := each(message, func(f field) (err error) {
		switch f.id {
		case 5:
			out.Mangled = string(f.data)
		case 6:
			out.Function = string(f.data)
		case 7:
			out.Demangled = string(f.data)
		case 10:
			out.Grid, err = dimensions(f.data)
		case 11:
			out.Block, err = dimensions(f.data)
		case 13:
			out.metrics = append(out.metrics, f.data)
		case 15:
			err = each(f.data, func(f field) error {
				if f.id == 1 {
					out.sourceID = f.number
				}
				return nil
			})
		}
		return err
	})
	out.err = err
	r.Results = append(r.Results, out)
	return nil // the others can be read
}

// dimensions reads a size of up to three dimensions.
func dimensions(message []byte) ([3]int, error) {
	size := [3]int{1, 1, 1}
	err := each(message, func(f field) error {
		if f.id < 1 || f.id > 3 {
			return nil
		}
		if f.number > math.MaxInt32 {
			return fmt.Errorf("%d is not the size of a grid or a block", f.number)
		}
		size[f.id-1] = int(f.number)
		return nil
	})
	return size, err
}
