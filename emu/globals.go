package emu

import (
	"cmp"
	"fmt"
	"slices"

	"gpa/cubin"
)

// A section is a part of the module's global memory in a buffer of its own.
type section struct {
	from   uint64 // offset in the module's global memory
	buffer *buffer
}

// placeGlobals puts the module's global variables into device memory: together, as a driver loads them, or where buffers are to be
// kept apart each by itself, so that running past the end of one does not hit the next.
func (m *Machine) placeGlobals() error {
	global := &m.module.Global
	if global.Size == 0 {
		return nil
	}
	if global.Size > uint64(m.gpu.DRAM.Size.Value) {
		return fmt.Errorf("its variables take %d bytes, more than the memory of %s", global.Size, m.gpu.Name)
	}
	ends := []uint64{0, global.Size}
	names := make(map[uint64]string)
	if m.options.Padding > 0 {
		for _, v := range m.module.Variables {
			if v.Space != cubin.GlobalSpace || v.Size > global.Size || v.Offset > global.Size-v.Size {
				continue
			}
			ends = append(ends, v.Offset, v.Offset+v.Size)
			names[v.Offset] = "variable " + v.Name
		}
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	for i, from := range ends[:len(ends)-1] {
		name := names[from]
		if name == "" {
			name = "the module's variables"
		}
		b, err := m.memory.alloc(name, int64(ends[i+1]-from))
		if err != nil {
			return err
		}
		m.globals = append(m.globals, section{from, b})
		if n := uint64(len(global.Init)); from < n {
			if err := m.Write(b.addr, global.Init[from:min(ends[i+1], n)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// section returns the part of the module's global memory that an offset lies in, nil where there is none.
func (m *Machine) section(offset uint64) *section {
	at, found := slices.BinarySearchFunc(m.globals, offset, func(s section, offset uint64) int { return cmp.Compare(s.from, offset) })
	if !found {
		at--
	}
	if at < 0 {
		return nil
	}
	return &m.globals[at]
}

// global returns the address of an offset in the module's global memory.
func (m *Machine) global(offset uint64) uint64 {
	s := m.section(offset)
	if s == nil {
		return offset
	}
	return s.buffer.addr + offset - s.from
}
