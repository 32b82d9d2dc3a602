package emu

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// The texts are what glibc's printf makes of the same arguments.
func TestPrintf(t *testing.T) {
	f64 := math.Float64bits
	tests := []struct {
		format    string
		arguments []any // uint32, uint64, float64, or the text of a string
		want      string
	}{
		{"plain, 100%%, %", nil, "plain, 100%, %"},
		{"%d %i %u", []any{uint32(0xffffffff), uint32(0x80000000), uint32(0xffffffff)}, "-1 -2147483648 4294967295"},
		{"%+d|% d|%05d|%-5d|", []any{uint32(5), uint32(5), uint32(0xffffffd6), uint32(42)}, "+5| 5|-0042|42   |"},
		{"%.0d|%5.3d|%05.3d|", []any{uint32(0), uint32(7), uint32(7)}, "|  007|  007|"},
		{"%#x %#X %#o %x", []any{uint32(0), uint32(255), uint32(8), uint32(0xdeadbeef)}, "0 0XFF 010 deadbeef"},
		{"%hhd %hu %hd", []any{uint32(200), uint32(70000), uint32(0xffff)}, "-56 4464 -1"},
		{"%lld %llx %lu", []any{uint64(math.MaxUint64 - 8999999999), uint64(0xdeadbeefcafe), uint64(1 << 63)}, "-9000000000 deadbeefcafe 9223372036854775808"},
		{"%d %lld %d", []any{uint32(1), uint64(2), uint32(3)}, "1 2 3"},
		{"%c|%5c|%-3c|", []any{uint32('a'), uint32('x'), uint32('y')}, "a|    x|y  |"},
		{"%s|%-5s|%5s|%.2s", []any{"ab", "ab", "ab", "abcdef"}, "ab|ab   |   ab|ab"},
		{"%s %s", []any{uint64(0), "x"}, "(null) x"},
		{"%p %p", []any{uint64(0), uint64(0x1234)}, "(nil) 0x1234"},
		{"%*d|%-*d|%.*f", []any{uint32(6), uint32(5), uint32(6), uint32(5), uint32(2), 3.14159}, "     5|5     |3.14"},
		{"%*d|", []any{uint32(0xfffffffa), uint32(5)}, "5     |"},
		{"%f %.0f %#.0f %010.3f", []any{1.5, 2.5, 3.0, -3.14159}, "1.500000 2 3. -00003.142"},
		{"%e %+e %#.0e %E", []any{0.0, 12345.678, 3.0, 1e-300}, "0.000000e+00 +1.234568e+04 3.e+00 1.000000E-300"},
		{"%g %g %g %g %g", []any{1e-5, 0.0001, 100000.0, 1e6, 123456789.0}, "1e-05 0.0001 100000 1e+06 1.23457e+08"},
		{"%#g %#g %.3g %.10g %.15g %G", []any{1.0, 123456.0, 0.00012345, 3.14159265358979, 0.1, 1e-10}, "1.00000 123456. 0.000123 3.141592654 0.1 1E-10"},
		{"%g", []any{math.SmallestNonzeroFloat64}, "4.94066e-324"},
		{"%a %a %.2a %A", []any{0.1, 0.0, 1.999, -1.5}, "0x1.999999999999ap-4 0x0p+0 0x2.00p+0 -0X1.8P+0"},
		{"%a|%20a|%020a", []any{math.SmallestNonzeroFloat64, 1.0, 1.0}, "0x0.0000000000001p-1022|              0x1p+0|0x000000000000001p+0"},
		{"%.0a %.15a", []any{1.5, 1.0}, "0x2p+0 0x1.000000000000000p+0"},
		{"%05f|%F|%f", []any{math.Inf(1), math.Inf(-1), math.NaN()}, "  inf|-INF|nan"},
		{"%y %5", nil, "%y %"},
	}
	p := &timedProgram{text: "EXIT"}
	m, l, _ := p.start(t, testModel(t), Options{})
	r, err := m.prepare(l)
	if err != nil {
		t.Fatal(err)
	}
	w := r.newBlock(0).warps[0]
	for _, tt := range tests {
		t.Run(tt.format, func(t *testing.T) {
			var data []byte
			align := func(n int) {
				for len(data)%n != 0 {
					data = append(data, 0xee)
				}
			}
			for _, a := range tt.arguments {
				switch a := a.(type) {
				case uint32:
					align(4)
					data = binary.LittleEndian.AppendUint32(data, a)
				case uint64:
					align(8)
					data = binary.LittleEndian.AppendUint64(data, a)
				case float64:
					align(8)
					data = binary.LittleEndian.AppendUint64(data, f64(a))
				case string:
					align(8)
					data = binary.LittleEndian.AppendUint64(data, argumentsAt(t, m, append([]byte(a), 0)))
				}
			}
			align(8)
			pr := printer{arguments: argumentReader{w: w, o: w.next(), lane: 3, next: argumentsAt(t, m, data)}}
			got, err := pr.format(tt.format)
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
			if pr.arguments.count != len(tt.arguments) {
				t.Errorf("%d arguments taken, want %d", pr.arguments.count, len(tt.arguments))
			}
		})
	}
	t.Run("missing argument", func(t *testing.T) {
		pr := printer{arguments: argumentReader{w: w, o: w.next(), next: argumentsAt(t, m, make([]byte, 4))}}
		if _, err := pr.format("%d %d"); err == nil {
			t.Error("no error")
		}
	})
}

// argumentsAt puts data into a buffer of its own and returns its address.
func argumentsAt(t *testing.T, m *Machine, data []byte) uint64 {
	t.Helper()
	addr, err := m.Alloc("arguments", int64(len(data)))
	if err == nil {
		err = m.Write(addr, data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func TestHeap(t *testing.T) {
	p := &timedProgram{text: "EXIT"}
	m, _, _ := p.start(t, testModel(t), Options{Heap: 1000})
	h := m.heap
	kind := func(addr uint64) FaultKind {
		k, _ := h.free(addr)
		return k
	}
	a, b := h.alloc(100), h.alloc(500)
	switch {
	case a == 0 || b == 0 || a%16 != 0 || b%16 != 0:
		t.Fatalf("allocations at %#x and %#x", a, b)
	case m.Read(a, make([]byte, 100)) != nil || m.Read(a+96, make([]byte, 5)) == nil:
		t.Error("the first allocation is not as long as asked for")
	case h.alloc(500) != 0:
		t.Error("more than there is")
	case h.alloc(0) != 0:
		t.Error("an allocation of nothing")
	case kind(a+16) != InvalidFree:
		t.Error("freed from its middle")
	case kind(b) != "" || kind(b) != DoubleFree:
		t.Error("not freed once")
	case h.alloc(500) == 0:
		t.Error("what was freed is not there again")
	case kind(0) != "":
		t.Error("null cannot be freed")
	}
}

// TestPrintLimit holds that a launch prints no more than the buffer of a GPU holds and says so once.
func TestPrintLimit(t *testing.T) {
	var out bytes.Buffer
	r := &launchRun{machine: &Machine{options: Options{Stdout: &out}}}
	line := strings.Repeat("x", 1000) + "\n"
	for range 3 * printLimit / len(line) {
		if err := r.print(line); err != nil {
			t.Fatal(err)
		}
	}
	rest := out.String()[printLimit:]
	if !strings.HasPrefix(rest, "\n[device-side printf") || strings.Count(rest, "\n") != 2 || r.machine.Printed() != int64(out.Len()) {
		t.Errorf("%d bytes, then %q", printLimit, rest)
	}
}
