package launch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// An Array is the content of an .npy file: elements in C order, little endian.
type Array struct {
	Descr string // NumPy's type without the byte order, as in f4
	Shape []int
	Data  []byte
}

const npyMagic = "\x93NUMPY"

// The keys of an .npy header, a Python dictionary of exactly these three.
var (
	npyDescr   = regexp.MustCompile(`'descr'\s*:\s*'([<>|=]?)([a-z][0-9]+)'`)
	npyFortran = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	npyShape   = regexp.MustCompile(`'shape'\s*:\s*\(([0-9, ]*)\)`)
)

// ReadNpy decodes an .npy file (NumPy Enhancement Proposal 1, versions 1 to 3) of fixed-size numbers. Fortran
// order becomes C order.
func ReadNpy(data []byte) (*Array, error) {
	header, body, err := splitNpy(data)
	if err != nil {
		return nil, err
	}
	descr, fortran, shape := npyDescr.FindStringSubmatch(header), npyFortran.FindStringSubmatch(header), npyShape.FindStringSubmatch(header)
	switch {
	case descr == nil || fortran == nil || shape == nil:
		return nil, fmt.Errorf("the .npy header %.80q is not understood", header)
	case descr[1] == ">":
		return nil, errors.New("the array is big endian")
	}
	a := &Array{Descr: descr[2], Data: body}
	size, err := strconv.Atoi(a.Descr[1:])
	if err != nil || size < 1 || size > 8 {
		return nil, fmt.Errorf("arrays of %s are not supported", a.Descr)
	}
	for _, dim := range strings.Split(shape[1], ",") {
		if dim = strings.TrimSpace(dim); dim == "" {
			continue
		}
		n, err := strconv.Atoi(dim)
		if err != nil || n > len(body) {
			return nil, fmt.Errorf("shape (%s) does not fit the file's %d bytes of data", shape[1], len(body))
		}
		a.Shape = append(a.Shape, n)
		if size *= n; size > len(body) {
			break
		}
	}
	if size != len(body) {
		return nil, fmt.Errorf("shape (%s) of %s does not fit the file's %d bytes of data", shape[1], a.Descr, len(body))
	}
	if fortran[1] == "True" {
		a.Data = rowMajor(a.Data, a.Shape)
	}
	return a, nil
}

// rowMajor brings elements in Fortran order, the first index fastest, into C order.
func rowMajor(data []byte, shape []int) []byte {
	count := product(shape)
	if count == 0 {
		return data
	}
	size := len(data) / count
	out := make([]byte, 0, len(data))
	index := make([]int, len(shape))
	for range count {
		from, stride := 0, 1
		for axis, i := range index {
			from += i * stride
			stride *= shape[axis]
		}
		out = append(out, data[from*size:(from+1)*size]...)
		for axis := len(index) - 1; axis >= 0; axis-- {
			if index[axis]++; index[axis] < shape[axis] {
				break
			}
			index[axis] = 0
		}
	}
	return out
}

// splitNpy returns the header dictionary and the data.
func splitNpy(data []byte) (header string, body []byte, err error) {
	if !bytes.HasPrefix(data, []byte(npyMagic)) || len(data) < 12 {
		return "", nil, errors.New("not an .npy file")
	}
	start, length := 10, int(binary.LittleEndian.Uint16(data[8:]))
	if data[6] > 1 {
		start, length = 12, int(binary.LittleEndian.Uint32(data[8:]))
	}
	if length > len(data)-start {
		return "", nil, errors.New("the .npy file is cut off in its header")
	}
	return string(data[start : start+length]), data[start+length:], nil
}

// WriteNpy encodes an array as an .npy file of version 1, the same bytes that NumPy writes.
func WriteNpy(a *Array) []byte {
	dims := make([]string, len(a.Shape))
	for i, n := range a.Shape {
		dims[i] = strconv.Itoa(n)
	}
	shape := strings.Join(dims, ", ")
	if len(dims) == 1 {
		shape += ","
	}
	order := "<"
	if strings.HasSuffix(a.Descr, "1") {
		order = "|"
	}
	header := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, a.Descr, shape)
	padding := 63 - (10+len(header))%64 // the data begins at a multiple of 64 bytes
	header += strings.Repeat(" ", padding) + "\n"
	out := append([]byte(npyMagic), 1, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(header)))
	out = append(out, header...)
	return append(out, a.Data...)
}
