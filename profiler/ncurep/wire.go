package ncurep

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Wire types of the protocol buffer encoding.
const (
	wireVarint = 0
	wireFixed8 = 1
	wireBytes  = 2
	wireFixed4 = 5
)

var errTruncated = errors.New("the message ends in the middle of a field")

// A field is one field of a message. Numbers of any width are in number, as bits; everything else is in data, which shares
// memory with the message.
type field struct {
	id     int
	wire   uint8
	number uint64
	data   []byte
}

// next takes the first field of a message and returns the rest.
func next(message []byte) (f field, rest []byte, err error) {
	key, rest, err := uvarint(message)
	if err != nil {
		return f, nil, err
	}
	if f.id, f.wire = int(key>>3), uint8(key&7); key>>3 == 0 || key>>3 > math.MaxInt32 {
		return f, nil, fmt.Errorf("%d is not the number of a field", key>>3)
	}
	switch f.wire {
	case wireVarint:
		f.number, rest, err = uvarint(rest)
		return f, rest, err
	case wireFixed8:
		if len(rest) < 8 {
			return f, nil, errTruncated
		}
		f.number = binary.LittleEndian.Uint64(rest)
		return f, rest[8:], nil
	case wireFixed4:
		if len(rest) < 4 {
			return f, nil, errTruncated
		}
		f.number = uint64(binary.LittleEndian.Uint32(rest))
		return f, rest[4:], nil
	case wireBytes:
		size, rest, err := uvarint(rest)
		if err != nil || size > uint64(len(rest)) {
			return f, nil, errTruncated
		}
		f.data = rest[:size]
		return f, rest[size:], nil
	}
	return f, nil, fmt.Errorf("field %d has the wire type %d", f.id, f.wire)
}

// uvarint takes a number in groups of seven bits.
func uvarint(data []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(data)
	if n <= 0 {
		return 0, nil, errTruncated
	}
	return v, data[n:], nil
}

// each calls take for every field of a message, in order.
func each(message []byte, take func(f field) error) error {
	for len(message) > 0 {
		f, rest, err := next(message)
		if err != nil {
			return err
		}
		if err := take(f); err != nil {
			return err
		}
		message = rest
	}
	return nil
}
