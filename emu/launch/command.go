package launch

import (
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Command is a launch described on a command line instead of in a file.
type Command struct {
	Module      string
	Kernel      string // "" for the only kernel of the module
	Grid, Block [3]int
	Shared      int
	Args        []string // in the form that ParseArg documents
}

// File returns the launch file that the command stands for.
func (c *Command) File(dir Dir) (*File, error) {
	f := &File{Name: c.Module, Module: c.Module, Stack: DefaultStack, Heap: DefaultHeap, Caches: Cold, dir: dir}
	l := Launch{Kernel: c.Kernel, Grid: c.Grid, Block: c.Block, Shared: c.Shared, Repeat: 1}
	for i, text := range c.Args {
		arg, buffer, err := ParseArg(text)
		if err != nil {
			return nil, fmt.Errorf("--arg %s: %w", text, err)
		}
		if buffer != nil {
			buffer.Name = "arg" + strconv.Itoa(i)
			arg.Buffer = buffer.Name
			f.Buffers = append(f.Buffers, *buffer)
		}
		l.Args = append(l.Args, arg)
	}
	f.Launches = []Launch{l}
	return f, nil
}

// argSyntax splits TYPE[SHAPE]:VALUE.
var argSyntax = regexp.MustCompile(`^([a-z]+[0-9]*)(\[([0-9, ]*)\])?(?::(.*))?$`)

// generatorSyntax splits NAME(A, B).
var generatorSyntax = regexp.MustCompile(`^([a-z]+)(?:\((.*)\))?$`)

// ParseSize reads the size of a grid or a block, one to three positive numbers: 128, 16,16 or 16x16. Those that are left out are 1.
func ParseSize(text string) ([3]int, error) {
	size := [3]int{1, 1, 1}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == 'x' })
	if len(parts) > len(size) {
		return size, fmt.Errorf("%q has more than three dimensions", text)
	}
	for i, part := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > 1<<31-1 {
			return size, fmt.Errorf("%q is not a positive number", part)
		}
		size[i] = n
	}
	if len(parts) == 0 {
		return size, errors.New("there is no size")
	}
	return size, nil
}

// ParseArg reads an argument as the command line gives it:
//
//	i32:5                     a scalar
//	bytes:00ff                a structure by value, hexadecimal
//	f32[1024]                 the address of a buffer of zeros
//	f32[32,32]:uniform(0,1)   of one with a generator of launch files: none, fill(v), iota(start,step),
//	                          uniform(low,high), normal(mean,std), permutation, file(name.npy);
//	                          the random ones take a seed as a last number
//
// The buffer is nil for scalars and structures.
func ParseArg(text string) (Arg, *Buffer, error) {
	m := argSyntax.FindStringSubmatch(text)
	if m == nil {
		return Arg{}, nil, fmt.Errorf("not of the form TYPE:VALUE or TYPE[SHAPE]:GENERATOR")
	}
	name, isBuffer, shape, value := m[1], m[2] != "", m[3], m[4]
	if name == "bytes" && !isBuffer {
		bytes, err := hex.DecodeString(value)
		return Arg{Bytes: bytes}, nil, err
	}
	e, ok := ParseElem(name)
	if !ok {
		return Arg{}, nil, fmt.Errorf("%q is not a type; the types are i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64", name)
	}
	if !isBuffer {
		v, err := parseNumber(value)
		if err == nil {
			err = e.put(make([]byte, 8), v)
		}
		return Arg{Type: e, Value: v}, nil, err
	}
	b := &Buffer{Type: e, HasType: true}
	var err error
	if b.Shape, err = parseShape(shape); err != nil {
		return Arg{}, nil, err
	}
	b.Init, err = parseGenerator(value)
	return Arg{}, b, err
}

func parseShape(text string) ([]int, error) {
	shape, total := []int{}, 1
	for _, dim := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(dim))
		if err != nil || n < 0 || (n > 0 && total > maxBufferBytes/n) {
			return nil, fmt.Errorf("[%s] is not a shape", text)
		}
		total *= n
		shape = append(shape, n)
	}
	return shape, nil
}

// generators are the ways to fill a buffer from the command line, with the numbers that they take.
var generators = map[string]struct {
	kind    InitKind
	numbers int
	seed    bool
}{
	"zero":        {InitZero, 0, false},
	"none":        {InitNone, 0, false},
	"fill":        {InitFill, 1, false},
	"iota":        {InitIota, 2, false},
	"uniform":     {InitUniform, 2, true},
	"normal":      {InitNormal, 2, true},
	"permutation": {InitPermutation, 0, true},
}

func parseGenerator(text string) (Init, error) {
	if text == "" {
		return Init{}, nil
	}
	m := generatorSyntax.FindStringSubmatch(text)
	if m == nil {
		return Init{}, fmt.Errorf("%q is not a generator, as in uniform(0,1)", text)
	}
	if m[1] == "file" {
		return Init{Kind: InitFile, File: m[2]}, nil
	}
	g, ok := generators[m[1]]
	if !ok {
		return Init{}, fmt.Errorf("%q is not a generator; there are zero, none, fill, iota, uniform, normal, permutation and file", m[1])
	}
	var numbers []number
	if m[2] != "" {
		for _, part := range strings.Split(m[2], ",") {
			v, err := parseNumber(strings.TrimSpace(part))
			if err != nil {
				return Init{}, err
			}
			numbers = append(numbers, v)
		}
	}
	in := Init{Kind: g.kind}
	if g.seed && len(numbers) == g.numbers+1 {
		in.Seed = uint64(numbers[g.numbers].i)
		numbers = numbers[:g.numbers]
	}
	if len(numbers) != g.numbers {
		return Init{}, fmt.Errorf("%s takes %d numbers, not %d", m[1], g.numbers, len(numbers))
	}
	for i, to := range []*number{&in.A, &in.B}[:len(numbers)] {
		*to = numbers[i]
	}
	return in, nil
}
