package cubin

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Compressed ends the name of a file that gzip (RFC 1952) made smaller, as saxpy.sm_70.cubin.gz.
const Compressed = ".gz"

// ReadFile reads a file that holds device code, decompressed where gzip compressed it. Where there is no file of that name,
// the one with [Compressed] after it stands for it.
func ReadFile(path string) ([]byte, error) {
	return ReadWith(path, func(path string) ([]byte, error) {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.Size() > maxFileSize {
			return nil, fmt.Errorf("%s: %d bytes are more than a cubin has", path, info.Size())
		}
		return os.ReadFile(path)
	})
}

// ReadWith does the same by a function that reads files, as of a folder.
func ReadWith(path string, read func(path string) ([]byte, error)) ([]byte, error) {
	data, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		if other, problem := read(path + Compressed); !errors.Is(problem, fs.ErrNotExist) {
			path, data, err = path+Compressed, other, problem
		}
	}
	if err != nil {
		return nil, err
	}
	if data, err = Decompress(data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// The layout of a gzip file: at least a header of 10 bytes, and at its end a checksum and the size of what was compressed.
const (
	gzipMagic   = "\x1f\x8b"
	gzipMinimum = 10 + 8
)

// Decompress returns what gzip made of data, and data itself where that is of another format. Nothing is decompressed that
// would be more than maxRatio times as large, or is not as large as the file says.
func Decompress(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte(gzipMagic)) {
		return data, nil
	}
	if len(data) < gzipMinimum {
		return nil, fmt.Errorf("gzip: %w", io.ErrUnexpectedEOF)
	}
	size := uint64(binary.LittleEndian.Uint32(data[len(data)-4:]))
	if size > maxRatio*uint64(len(data)) || size > maxFileSize {
		return nil, fmt.Errorf("gzip: 0x%x bytes made of 0x%x are unlikely", size, len(data))
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	r.Multistream(false)
	out := make([]byte, size)
	if _, err := io.ReadFull(r, out); err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	switch n, err := r.Read(make([]byte, 1)); { // the checksum is compared at the end
	case n != 0:
		return nil, fmt.Errorf("gzip: more than the 0x%x bytes that the file says", size)
	case err != io.EOF:
		return nil, fmt.Errorf("gzip: %w", err)
	}
	return out, nil
}
