// Package fatbintest writes fatbins and archives, so that tests need no files of nvcc's. It lays out by itself what package cubin reads.
package fatbintest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// The layout of a fatbin: a header of HeaderSize bytes, then entries, each with a header of EntrySize bytes and more for its name.
const (
	Magic      = 0xba55ed50
	HeaderSize = 16
	EntrySize  = 64
)

// Flags of an entry whose contents are compressed.
const (
	LZ4  = 1 << 13
	Zstd = 1 << 15
)

// PackLZ4 makes an LZ4 block: runs of zero bytes become copies of the byte before, everything else literals.
func PackLZ4(data []byte) []byte {
	var out, literals []byte
	length := func(n int) {
		for n -= 15; n >= 255; n -= 255 {
			out = append(out, 255)
		}
		if n >= 0 {
			out = append(out, byte(n))
		}
	}
	flush := func(run int) {
		token := byte(min(len(literals), 15)) << 4
		if run > 0 {
			token |= byte(min(run-4, 15))
		}
		out = append(out, token)
		length(len(literals))
		out = append(out, literals...)
		literals = nil
		if run > 0 {
			out = append(out, 1, 0)
			length(run - 4)
		}
	}
	for i := 0; i < len(data); {
		run := 0
		for i > 0 && data[i-1] == 0 && i+run < len(data)-8 && data[i+run] == 0 {
			run++
		}
		if run >= 4 {
			flush(run)
			i += run
			continue
		}
		literals = append(literals, data[i])
		i++
	}
	flush(0)
	return out
}

// PackZstd makes a zstd frame.
func PackZstd(t testing.TB, data []byte) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	return e.EncodeAll(data, nil)
}

// Entry makes an entry of a fatbin: of a kind as cubin.EntryKind has it, for an architecture as in 70, with the name of a source where
// it is not empty. With flags the data are compressed, from size bytes.
func Entry(kind uint16, sm int, name string, data []byte, flags uint64, size int) []byte {
	h := make([]byte, EntrySize, EntrySize+len(name))
	le := binary.LittleEndian
	le.PutUint16(h, kind)
	le.PutUint16(h[2:], 0x101)
	le.PutUint32(h[4:], uint32(EntrySize+len(name)))
	padded := append(bytes.Clone(data), make([]byte, -len(data)&7)...)
	le.PutUint64(h[8:], uint64(len(padded)))
	le.PutUint32(h[28:], uint32(sm))
	le.PutUint64(h[40:], flags)
	if flags != 0 {
		le.PutUint32(h[16:], uint32(len(data)))
		le.PutUint64(h[56:], uint64(size))
	}
	if name != "" {
		le.PutUint32(h[32:], EntrySize)
		le.PutUint32(h[36:], uint32(len(name)))
	}
	return append(append(h, name...), padded...)
}

// Fatbin makes a fatbin of entries.
func Fatbin(entries ...[]byte) []byte {
	body := bytes.Join(entries, nil)
	h := binary.LittleEndian.AppendUint32(nil, Magic)
	h = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(h, 1), HeaderSize)
	return append(binary.LittleEndian.AppendUint64(h, uint64(len(body))), body...)
}

// Archive makes an ar archive with one member.
func Archive(member []byte) []byte {
	h := fmt.Sprintf("!<arch>\n%-16s%-12d%-6d%-6d%-8s%-10d`\n", "host.o/", 0, 0, 0, "644", len(member))
	return append([]byte(h), member...)
}
