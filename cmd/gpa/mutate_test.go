package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"regexp"
	"strconv"
)

// A mutator spoils files as an attacker or a broken disk would who knows their structure: it changes sizes, counts, offsets and
// instruction words, in compressed files what is compressed too.
type mutator struct{ *rand.Rand }

// A field is a little-endian number in a file.
type field struct{ at, width int }

// mutate returns a spoilt copy of a file.
func (m mutator) mutate(data []byte) []byte {
	if len(data) == 0 {
		return data
	}
	if m.IntN(4) > 0 { // else the container as bytes
		if out, ok := m.inside(data); ok {
			return out
		}
	}
	out := bytes.Clone(data)
	for range 1 + m.IntN(3) {
		switch fields := elfFields(out); {
		case m.IntN(20) == 0:
			out = out[:m.IntN(len(out)+1)]
		case len(fields) > 0:
			m.set(out, fields[m.IntN(len(fields))])
		case isText(out):
			out = m.text(out)
		default:
			width := 1 << m.IntN(4)
			m.set(out, field{m.IntN(max(1, len(out)-width)), width})
		}
		if len(out) == 0 {
			break
		}
	}
	return out
}

// set gives a number a value that readers may stumble over.
func (m mutator) set(data []byte, f field) {
	if f.at < 0 || f.at+f.width > len(data) {
		return
	}
	var word [8]byte
	copy(word[:], data[f.at:f.at+f.width])
	old := binary.LittleEndian.Uint64(word[:])
	values := []uint64{0, 1, old + 1, old - 1, 2 * old, old / 2, old ^ 1<<m.IntN(8*f.width), 1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 62, 1<<64 - 1,
		uint64(len(data)), uint64(len(data)) - 1, uint64(m.IntN(len(data))), m.Uint64()}
	binary.LittleEndian.PutUint64(word[:], values[m.IntN(len(values))])
	copy(data[f.at:f.at+f.width], word[:])
}

// inside spoils what a compressed file or an archive holds.
func (m mutator) inside(data []byte) ([]byte, bool) {
	if r, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, false
		}
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		w.Write(m.mutate(content)) //nolint:errcheck // to memory
		w.Close()
		return out.Bytes(), true
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(r.File) == 0 {
		return nil, false
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	spoilt := m.IntN(len(r.File))
	for i, f := range r.File {
		in, err := f.Open()
		if err != nil {
			return nil, false
		}
		content, err := io.ReadAll(in)
		if err != nil {
			return nil, false
		}
		if i == spoilt {
			content = m.mutate(content)
		}
		to, err := w.Create(f.Name)
		if err != nil {
			return nil, false
		}
		to.Write(content) //nolint:errcheck // to memory
	}
	w.Close()
	return out.Bytes(), true
}

// isText reports whether a file is lines of text.
func isText(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), 512)], 0) < 0 && bytes.IndexByte(data, '\n') >= 0
}

var digits = regexp.MustCompile(`-?[0-9]+`)

// text changes a number or a line.
func (m mutator) text(data []byte) []byte {
	if at := digits.FindAllIndex(data, -1); len(at) > 0 && m.IntN(4) > 0 {
		values := []string{"0", "-1", "1", "2147483648", "4294967295", "9223372036854775807", "18446744073709551616", "1e30", "nan", "1000000",
			strconv.Itoa(m.IntN(1 << 16))}
		x := at[m.IntN(len(at))]
		return bytes.Join([][]byte{data[:x[0]], []byte(values[m.IntN(len(values))]), data[x[1]:]}, nil)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	i, j := m.IntN(len(lines)), m.IntN(len(lines))
	switch m.IntN(3) {
	case 0:
		lines[i], lines[j] = lines[j], lines[i]
	case 1:
		lines[i] = bytes.Repeat(lines[i], 1+m.IntN(100))
	default:
		lines[i] = nil
	}
	return bytes.Join(lines, nil)
}

// elfFields lists the numbers of an ELF file that say where things are and how many: those of the headers, of symbols and
// relocations, the words of small sections, and the halves of instruction words.
func elfFields(data []byte) []field {
	if len(data) < 64 || string(data[:4]) != elf.ELFMAG {
		return nil
	}
	var list []field
	row := func(at int, widths ...int) {
		for _, w := range widths {
			list = append(list, field{at, w})
			at += w
		}
	}
	row(16, 2, 2, 4, 8, 8, 8, 4, 2, 2, 2, 2, 2, 2)
	table, count := int(binary.LittleEndian.Uint64(data[40:])), int(binary.LittleEndian.Uint16(data[60:]))
	for i := range count {
		at := table + 64*i
		if at < 0 || at+64 > len(data) {
			break
		}
		row(at, 4, 4, 8, 8, 8, 8, 4, 4, 8, 8)
		kind := elf.SectionType(binary.LittleEndian.Uint32(data[at+4:]))
		first, size := int(binary.LittleEndian.Uint64(data[at+24:])), int(binary.LittleEndian.Uint64(data[at+32:]))
		if kind == elf.SHT_NOBITS || first < 0 || size < 0 || first+size > len(data) || first+size < 0 {
			continue
		}
		step := 4
		if size > 1<<12 {
			step = 8
		}
		for at := first; at+step <= first+size; at += step {
			row(at, step)
		}
	}
	return list
}
