package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gpa/cubin"
	"gpa/cubin/fatbintest"
)

// A mutator spoils files as an attacker or a broken disk would who knows their structure: it changes sizes, counts, offsets and
// instruction words, in compressed files what is compressed too, and keeps the sizes around what it changes right as often as not.
type mutator struct{ *rand.Rand }

// A field is a little-endian number in a file.
type field struct{ at, width int }

// mutate returns a spoilt copy of a file.
func (m mutator) mutate(data []byte) []byte {
	if len(data) == 0 {
		return data
	}
	if m.IntN(4) > 0 { // else the container as bytes
		for _, inside := range []func([]byte) ([]byte, bool){m.insideGzip, m.insideZip, m.insideFatbin, m.insideReport} {
			if out, ok := inside(data); ok {
				return out
			}
		}
	}
	out := bytes.Clone(data)
	for range max(1, m.IntN(5)-1) { // one change mostly: of several, one is found at once
		switch fields := fieldsOf(out); {
		case m.IntN(20) == 0:
			out = out[:m.IntN(len(out)+1)]
		case bytes.HasPrefix(out, []byte(archiveMagic)) && len(out) > archiveHead && m.IntN(3) == 0:
			out = append(m.text(out[:archiveHead]), out[archiveHead:]...)
		case len(fields) > 0:
			m.set(out, fields[m.IntN(len(fields))])
		case isText(out):
			out = m.text(out)
		case m.IntN(3) > 0 && isMessage(out):
			out = m.message(out)
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

// An archive begins so, and with the header of its first member, which is text.
const (
	archiveMagic = "!<arch>\n"
	archiveHead  = len(archiveMagic) + 60
)

// fieldsOf lists the numbers of a binary file that say where things are and how many.
func fieldsOf(data []byte) []field {
	switch {
	case len(data) >= 64 && string(data[:4]) == elf.ELFMAG:
		return elfFields(data)
	case isFatbin(data):
		list := fieldsOfWidths(0, 4, 2, 2, 8)
		for _, at := range fatbinEntries(data) {
			list = append(list, fieldsOfWidths(at, 2, 2, 4, 8, 4, 4, 4, 4, 4, 4, 8, 8, 8)...)
		}
		return list
	}
	return nil
}

// fieldsOfWidths lists numbers that follow each other.
func fieldsOfWidths(at int, widths ...int) []field {
	list := make([]field, len(widths))
	for i, w := range widths {
		list[i] = field{at, w}
		at += w
	}
	return list
}

// value is a number that readers may stumble over, from one that stood there and from the size of what holds it.
func (m mutator) value(old uint64, bits, size int) uint64 {
	values := []uint64{0, 1, old + 1, old - 1, 2 * old, old / 2, old ^ 1<<m.IntN(bits), 1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 62, 1<<64 - 1,
		uint64(size), uint64(size) - 1, uint64(m.IntN(size)), m.Uint64()}
	return values[m.IntN(len(values))]
}

// set gives a number such a value.
func (m mutator) set(data []byte, f field) {
	if f.at < 0 || f.at+f.width > len(data) {
		return
	}
	var word [8]byte
	copy(word[:], data[f.at:f.at+f.width])
	binary.LittleEndian.PutUint64(word[:], m.value(binary.LittleEndian.Uint64(word[:]), 8*f.width, len(data)))
	copy(data[f.at:f.at+f.width], word[:])
}

// insideGzip spoils what a compressed file holds.
func (m mutator) insideGzip(data []byte) ([]byte, bool) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, false
	}
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

// insideZip spoils a file in an archive.
func (m mutator) insideZip(data []byte) ([]byte, bool) {
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

func isFatbin(data []byte) bool {
	return len(data) >= fatbintest.HeaderSize && binary.LittleEndian.Uint32(data) == fatbintest.Magic
}

// fatbinEntries lists where the entries of a fatbin begin.
func fatbinEntries(data []byte) []int {
	var list []int
	for at := fatbintest.HeaderSize; len(list) < 100 && at >= 0 && at+fatbintest.EntrySize <= len(data); {
		list = append(list, at)
		at += int(binary.LittleEndian.Uint32(data[at+4:])) + int(binary.LittleEndian.Uint64(data[at+8:])&math.MaxInt32)
	}
	return list
}

// insideFatbin packs a fatbin anew in which one entry is spoilt before it is compressed.
func (m mutator) insideFatbin(data []byte) ([]byte, bool) {
	if !isFatbin(data) {
		return nil, false
	}
	entries, err := cubin.Entries(data)
	if err != nil || len(entries) == 0 {
		return nil, false
	}
	spoilt := m.IntN(len(entries))
	packed := make([][]byte, len(entries))
	for i := range entries {
		e := &entries[i]
		content, err := e.Read()
		if err != nil {
			return nil, false
		}
		if i == spoilt {
			content = m.mutate(content)
		}
		flags, size := uint64(0), len(content)
		if e.Compression != "" {
			flags, content = fatbintest.LZ4, fatbintest.PackLZ4(content)
		}
		packed[i] = fatbintest.Entry(uint16(e.Kind), e.SM, e.Name, content, flags, size)
	}
	return fatbintest.Fatbin(packed...), true
}

// reportMagic begins a report of Nsight Compute: then come messages, each with its size before it.
const reportMagic = "NVR\x00"

// insideReport spoils a message of a report of Nsight Compute.
func (m mutator) insideReport(data []byte) ([]byte, bool) {
	if !bytes.HasPrefix(data, []byte(reportMagic)) {
		return nil, false
	}
	var messages [][]byte
	for rest := data[len(reportMagic):]; len(rest) >= 4; {
		size := binary.LittleEndian.Uint32(rest)
		if rest = rest[4:]; uint64(size) > uint64(len(rest)) {
			return nil, false
		}
		messages, rest = append(messages, rest[:size]), rest[size:]
	}
	if len(messages) == 0 {
		return nil, false
	}
	spoilt := m.IntN(len(messages))
	messages[spoilt] = m.message(messages[spoilt])
	out := []byte(reportMagic)
	for i, message := range messages {
		size := uint32(len(message))
		if i == spoilt && m.IntN(10) == 0 {
			size = uint32(m.value(uint64(size), 32, len(data)))
		}
		out = append(binary.LittleEndian.AppendUint32(out, size), message...)
	}
	return out, true
}

// A wireField is a field of a protocol buffer message: where it begins and ends, where its value does, and its wire type.
type wireField struct{ begin, value, end, wire int }

// wireFields lists the fields of a message, none where it is no message.
func wireFields(message []byte) []wireField {
	var list []wireField
	for at := 0; at < len(message); {
		key, n := binary.Uvarint(message[at:])
		if n <= 0 || key>>3 == 0 || key>>3 > 1<<20 {
			return nil
		}
		f := wireField{at, at + n, 0, int(key & 7)}
		switch f.wire {
		case 0:
			_, size := binary.Uvarint(message[f.value:])
			if size <= 0 {
				return nil
			}
			f.end = f.value + size
		case 1, 5:
			f.end = f.value + map[int]int{1: 8, 5: 4}[f.wire]
		case 2:
			size, width := binary.Uvarint(message[f.value:])
			if width <= 0 || size > uint64(len(message)) {
				return nil
			}
			f.value += width
			f.end = f.value + int(size)
		default:
			return nil
		}
		if f.end > len(message) {
			return nil
		}
		list, at = append(list, f), f.end
	}
	return list
}

func isMessage(data []byte) bool { return len(wireFields(data)) > 1 }

// message spoils a field of a protocol buffer message, of nested ones too; the sizes around it stay right but for one case in ten.
func (m mutator) message(data []byte) []byte {
	fields := wireFields(data)
	if len(fields) == 0 {
		if len(data) == 0 {
			return []byte{8, 1}
		}
		return m.mutate(data)
	}
	f := fields[m.IntN(len(fields))]
	var with []byte
	switch whole := data[f.begin:f.end]; {
	case m.IntN(12) == 0: // without it
	case m.IntN(12) == 0:
		with = bytes.Repeat(whole, 2+m.IntN(20))
	case f.wire == 0:
		old, _ := binary.Uvarint(data[f.value:])
		with = binary.AppendUvarint(bytes.Clone(data[f.begin:f.value]), m.value(old, 64, len(data)))
	case f.wire != 2:
		with = bytes.Clone(whole)
		m.set(with, field{f.value - f.begin, f.end - f.value})
	default:
		key, _ := binary.Uvarint(data[f.begin:])
		content := data[f.value:f.end]
		if isMessage(content) {
			content = m.message(content)
		} else {
			content = m.mutate(content)
		}
		size := uint64(len(content))
		if m.IntN(10) == 0 {
			size = m.value(size, 64, len(data))
		}
		with = append(binary.AppendUvarint(binary.AppendUvarint(nil, key), size), content...)
	}
	return slices.Concat(data[:f.begin], with, data[f.end:])
}

// isText reports whether a file is lines of text.
func isText(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), 512)], 0) < 0 && bytes.IndexByte(data, '\n') >= 0
}

var (
	digits = regexp.MustCompile(`-?[0-9]+`)
	words  = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9.]*`)
)

// text changes a number, a word or a line.
func (m mutator) text(data []byte) []byte {
	instead := func(at [][]int, values []string) []byte {
		x := at[m.IntN(len(at))]
		return slices.Concat(data[:x[0]], []byte(values[m.IntN(len(values))]), data[x[1]:])
	}
	if at := digits.FindAllIndex(data, -1); len(at) > 0 && m.IntN(8) < 5 {
		return instead(at, []string{"0", "-1", "1", "2147483648", "4294967295", "9223372036854775807", "18446744073709551616", "1e30", "nan", "1000000",
			strconv.Itoa(m.IntN(1 << 16)), strconv.Itoa(m.IntN(300)), "0.5", "[]", "1,1"})
	}
	if at := words.FindAllIndex(data, -1); len(at) > 0 && m.IntN(2) > 0 {
		other := at[m.IntN(len(at))]
		return instead(at, []string{"", "x", "null", "[]", "{}", "\x1b[31m", "\u202e", "\"", "../../../etc/passwd", strings.Repeat("A", 1000), string(data[other[0]:other[1]])})
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
	var list []field
	row := func(at int, widths ...int) { list = append(list, fieldsOfWidths(at, widths...)...) }
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
