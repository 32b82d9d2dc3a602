package cubin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"gpa/cubin/sass"
)

// An EntryKind is what a fatbin holds.
type EntryKind uint16

// The kinds of entries.
const (
	PTXEntry   EntryKind = 1
	CubinEntry EntryKind = 2
)

// String names the kind; a number stands for one that is not known.
func (k EntryKind) String() string {
	switch k {
	case PTXEntry:
		return "PTX"
	case CubinEntry:
		return "cubin"
	}
	return fmt.Sprintf("kind %d", uint16(k))
}

// An Entry is a piece of device code in a fatbin, or a cubin by itself.
type Entry struct {
	Kind        EntryKind
	SM          int    // architecture, as in 70
	Where       string // what holds it in the file: a section, the member of an archive; empty for a file that is a cubin
	Name        string // of the source, where the entry says
	Offset      uint64 // of its contents in the file
	Compression string // "LZ4", "zstd", or empty
	Size        uint64 // bytes, not compressed

	data []byte // as it stands in the file
}

// The layout of a fatbin, as binaries of CUDA 11 and 12 have it: a header of 16 bytes (magic, version, size of the
// header, size of what follows), then entries with a header each. The flags of compression were found by what the
// contents are.
const (
	fatbinHeader = 16
	entryHeader  = 64 // bytes, at least
	flagLZ4      = 1 << 13
	flagZstd     = 1 << 15
	maxEntries   = 1 << 16 // of a file
)

// Fatbin makes a fatbin of one cubin for an architecture, not compressed.
func Fatbin(code []byte, arch sass.Arch) []byte {
	const version, entryVersion = 1, 0x101
	size := (len(code) + 7) &^ 7
	le := binary.LittleEndian
	out := make([]byte, fatbinHeader+entryHeader, fatbinHeader+entryHeader+size)
	le.PutUint32(out, magicFatbin)
	le.PutUint16(out[4:], version)
	le.PutUint16(out[6:], fatbinHeader)
	le.PutUint64(out[8:], uint64(entryHeader+size))
	entry := out[fatbinHeader:]
	le.PutUint16(entry, uint16(CubinEntry))
	le.PutUint16(entry[2:], entryVersion)
	le.PutUint32(entry[4:], entryHeader)
	le.PutUint64(entry[8:], uint64(size))
	le.PutUint32(entry[28:], uint32(arch))
	return append(append(out, code...), make([]byte, size-len(code))...)
}

// readFatbins lists the entries of the fatbins that stand one after the other in data, with zero bytes between them. The
// offset is that of data in the file.
func readFatbins(where string, data []byte, offset uint64) ([]Entry, error) {
	var list []Entry
	le := binary.LittleEndian
	for at := uint64(0); uint64(len(data))-at >= fatbinHeader; {
		h := data[at:]
		if le.Uint32(h) == 0 {
			at += 8 // fatbins are aligned to 8 bytes
			continue
		}
		if le.Uint32(h) != magicFatbin {
			return list, fmt.Errorf("0x%x: no fatbin", offset+at)
		}
		header, size := uint64(le.Uint16(h[6:])), le.Uint64(h[8:])
		body, err := slice(data, at+header, size)
		if err != nil || header < fatbinHeader {
			return list, fmt.Errorf("0x%x: fatbin of 0x%x bytes is cut off", offset+at, size)
		}
		if list, err = appendEntries(list, where, body, offset+at+header); err != nil {
			return list, err
		}
		at += header + size
	}
	return list, nil
}

// appendEntries reads the entries of one fatbin.
func appendEntries(list []Entry, where string, body []byte, offset uint64) ([]Entry, error) {
	le := binary.LittleEndian
	for at := uint64(0); at < uint64(len(body)); {
		if len(list) >= maxEntries {
			return list, fmt.Errorf("more than %d entries", maxEntries)
		}
		h := body[at:]
		if len(h) < entryHeader {
			return list, fmt.Errorf("0x%x: the header of an entry is cut off", offset+at)
		}
		header, size := uint64(le.Uint32(h[4:])), le.Uint64(h[8:])
		data, err := slice(body, at+header, size)
		if err != nil || header < entryHeader {
			return list, fmt.Errorf("0x%x: entry of 0x%x bytes is cut off", offset+at, size)
		}
		e := Entry{
			Kind: EntryKind(le.Uint16(h)), SM: int(le.Uint32(h[28:])), Where: where, Offset: offset + at + header, Size: size, data: data,
			Name: entryName(h[:header]),
		}
		if flags := le.Uint64(h[40:]); flags&(flagLZ4|flagZstd) != 0 {
			e.Compression, e.Size = "LZ4", le.Uint64(h[56:])
			if flags&flagZstd != 0 {
				e.Compression = "zstd"
			}
			if packed := uint64(le.Uint32(h[16:])); packed != 0 && packed <= size {
				e.data = data[:packed]
			}
		}
		list = append(list, e)
		at += header + size
	}
	return list, nil
}

// entryName reads the name that stands in the header of an entry.
func entryName(h []byte) string {
	le := binary.LittleEndian
	name, err := slice(h, uint64(le.Uint32(h[32:])), uint64(le.Uint32(h[36:])))
	if err != nil || !printable(string(name)) {
		return ""
	}
	return string(name)
}

// maxRatio bounds how much larger than in the file an entry may be: LZ4 cannot do more, and device code compresses to a
// tenth.
const maxRatio = 255

// Read returns the contents, decompressed where need be.
func (e *Entry) Read() ([]byte, error) {
	if e.Compression == "" {
		return e.data, nil
	}
	if e.Size > maxRatio*uint64(len(e.data)) {
		return nil, fmt.Errorf("%s: 0x%x bytes made of 0x%x are unlikely", e.Compression, e.Size, len(e.data))
	}
	unpack := unpackLZ4
	if e.Compression == "zstd" {
		unpack = unpackZstd
	}
	out, err := unpack(e.data, int(e.Size))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Compression, err)
	}
	return out, nil
}

// unpackZstd decompresses a zstd frame to size bytes.
func unpackZstd(data []byte, size int) ([]byte, error) {
	limit := uint64(max(size, 1<<16))
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(limit), zstd.WithDecoderMaxWindow(max(limit, zstd.MinWindowSize)))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out, err := d.DecodeAll(data, make([]byte, 0, size))
	if err != nil {
		return nil, err
	}
	if len(out) != size {
		return nil, fmt.Errorf("%d bytes, want %d", len(out), size)
	}
	return out, nil
}

var errLZ4 = errors.New("damaged")

// unpackLZ4 decompresses an LZ4 block (the block format description of the LZ4 project) to size bytes: runs of literals
// and copies of what was written before.
func unpackLZ4(data []byte, size int) ([]byte, error) {
	out := make([]byte, 0, size)
	for len(data) > 0 {
		token := data[0]
		data = data[1:]
		n, rest, err := lz4Length(int(token>>4), data)
		if err != nil || n > len(rest) || n > size-len(out) {
			return nil, errLZ4
		}
		out, data = append(out, rest[:n]...), rest[n:]
		if len(data) == 0 {
			break // the last run has no copy
		}
		if len(data) < 2 {
			return nil, errLZ4
		}
		distance := int(binary.LittleEndian.Uint16(data))
		n, data, err = lz4Length(int(token&15), data[2:])
		n += 4
		if err != nil || distance == 0 || distance > len(out) || n > size-len(out) {
			return nil, errLZ4
		}
		for range n {
			out = append(out, out[len(out)-distance])
		}
	}
	if len(out) != size {
		return nil, fmt.Errorf("%d bytes, want %d", len(out), size)
	}
	return out, nil
}

// lz4Length reads the rest of a length whose first four bits are given.
func lz4Length(n int, data []byte) (int, []byte, error) {
	if n < 15 {
		return n, data, nil
	}
	for i, b := range data {
		if n += int(b); b != 255 {
			return n, data[i+1:], nil
		}
	}
	return 0, nil, io.ErrUnexpectedEOF
}
