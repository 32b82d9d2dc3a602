package cubin

import "encoding/binary"

// A LineMark says where the instructions from an address on come from.
type LineMark struct {
	PC   uint64 // offset in its section; rising from mark to mark
	File string
	Line int
}

// ptxasLines is what the headers of NVIDIA's compilers say of special opcodes.
var ptxasLines = lineUnit{minInst: 1, lineBase: -5, lineRange: 14, opcodeBase: 10}

// EncodeLines makes the contents of .debug_line: one sequence for each list of marks, whose code has the size of the same
// index. Places are the offsets in it of the addresses that relocations have to fill in.
func EncodeLines(codes [][]LineMark, sizes []uint64) (data []byte, places []uint64) {
	files := make(map[string]uint32)
	var names []byte
	for _, marks := range codes {
		for _, m := range marks {
			if files[m.File] == 0 {
				files[m.File] = uint32(len(files) + 1)
				names = append(append(names, m.File...), 0, 0, 0, 0)
			}
		}
	}
	u := ptxasLines
	header := []byte{byte(u.minInst), 1, byte(u.lineBase), byte(u.lineRange), byte(u.opcodeBase), 0, 1, 1, 1, 1, 0, 0, 0, 1}
	header = append(header, 0) // no directories
	header = append(append(header, names...), 0)
	data = binary.LittleEndian.AppendUint16(make([]byte, 4), 2)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(header)))
	data = append(data, header...)
	for i, marks := range codes {
		if len(marks) == 0 {
			continue
		}
		data = append(data, 0, 9, lneSetAddress)
		places = append(places, uint64(len(data)))
		w := lineWriter{out: append(data, make([]byte, 8)...), unit: u, state: lineRow{file: 1}, line: 1}
		for _, m := range marks {
			w.mark(files[m.File], int64(m.Line), m.PC)
		}
		w.advance(sizes[i])
		data = append(w.out, 0, 1, lneEndSequence)
	}
	binary.LittleEndian.PutUint32(data, uint32(len(data)-4))
	return data, places
}

// mark writes a row.
func (w *lineWriter) mark(file uint32, line int64, pc uint64) {
	if file != w.state.file {
		w.out = binary.AppendUvarint(append(w.out, lnsSetFile), uint64(file))
		w.state.file = file
	}
	w.copyRow(line-w.line, pc)
	w.line = line
}
