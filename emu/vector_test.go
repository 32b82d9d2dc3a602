package emu

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// randomWord is a word at whose like arithmetic goes wrong first: small integers, numbers of all classes, the borders between them.
func randomWord(r *rand.Rand) uint32 {
	sign := r.Uint32() & signF32
	switch r.IntN(10) {
	case 0:
		return uint32(r.IntN(80)) - 40
	case 1:
		return sign | uint32(r.IntN(1<<23)) // denormal
	case 2:
		return sign | uint32(0x00800000+r.IntN(5)-2)
	case 3:
		return sign | uint32(infF32+uint32(r.IntN(3))) // infinity, NaN
	case 4:
		return sign | infF32 | r.Uint32()&0x7fffff
	case 5:
		return sign
	case 6:
		return sign | uint32(0x1f800000+r.IntN(1<<25)) // whose product is about the smallest normal number
	case 7:
		return sign | uint32(0x3f800000+r.IntN(9)-4)
	}
	return r.Uint32()
}

func randomLanes(r *rand.Rand) *lanes {
	l := new(lanes)
	for i := range l {
		l[i] = randomWord(r)
	}
	if r.IntN(4) == 0 { // another operand's neighbours
		for i := range l {
			l[i] = l[i&7] + uint32(i/8)
		}
	}
	return l
}

// TestLanewise compares the operations that this processor executes fastest with those for any, argument by argument, also where the
// result takes the place of an operand.
func TestLanewise(t *testing.T) {
	want, got := reflect.ValueOf(*portableOps()), reflect.ValueOf(*fastestOps())
	for i := range want.NumField() {
		name := want.Type().Field(i).Name
		t.Run(name, func(t *testing.T) {
			switch name {
			case "Within", "Gather", "Scatter", "Sequential", "LoadRow", "StoreRow":
				t.Skip("has a test of its own")
			}
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for n := range 2000 {
				place := r.IntN(4) // the operand that the result takes the place of
				seed := r.Uint64()
				a, results := callLanewise(want.Field(i), seed, place)
				b, others := callLanewise(got.Field(i), seed, place)
				if !reflect.DeepEqual(results, others) {
					t.Fatalf("run %d: results %x, want %x", n, others, results)
				}
				for k := range a {
					if a[k] != b[k] {
						t.Fatalf("run %d, register %d: %08x, want %08x", n, k, b[k], a[k])
					}
				}
			}
		})
	}
}

// callLanewise calls an operation with random arguments and returns its registers, addresses as two of them, and its results.
func callLanewise(f reflect.Value, seed uint64, place int) (registers []lanes, results []uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	var in []reflect.Value
	var all []*lanes
	var addr *[32]uint64
	for i := range f.Type().NumIn() {
		switch at := f.Type().In(i); at {
		case reflect.TypeFor[*lanes]():
			l := randomLanes(r)
			if i > 0 && i == place {
				if first, ok := in[0].Interface().(*lanes); ok {
					l = first
				}
			}
			all = append(all, l)
			in = append(in, reflect.ValueOf(l))
		case reflect.TypeFor[*[32]uint64]():
			addr = new([32]uint64)
			in = append(in, reflect.ValueOf(addr))
		case reflect.TypeFor[*truthTable]():
			in = append(in, reflect.ValueOf(truthTableOf(r.Uint32()&0xff)))
		case reflect.TypeFor[uint64]():
			v := uint64(r.IntN(32))
			if addr != nil && i == f.Type().NumIn()-1 {
				v = r.Uint64()
			}
			in = append(in, reflect.ValueOf(v))
		default:
			in = append(in, reflect.ValueOf(randomArgument(r)))
		}
	}
	if f.Type().NumIn() == 5 && f.Type().In(4) == reflect.TypeFor[uint32]() && f.Type().NumOut() == 0 && f.Type().In(2) == reflect.TypeFor[*lanes]() {
		a, b := byteSelectors(r.Uint32()) // permute
		in[3], in[4] = reflect.ValueOf(a), reflect.ValueOf(b)
	}
	for _, v := range f.Call(in) {
		results = append(results, v.Uint())
	}
	for _, l := range all {
		registers = append(registers, *l)
	}
	if addr != nil {
		var low, high lanes
		for i, v := range addr {
			low[i], high[i] = uint32(v), uint32(v>>32)
		}
		registers = append(registers, low, high)
	}
	return registers, results
}

// randomArgument is a mask or a word.
func randomArgument(r *rand.Rand) uint32 {
	switch r.IntN(3) {
	case 0:
		return 0
	case 1:
		return allLanes
	}
	return r.Uint32()
}

func TestLanewiseMemory(t *testing.T) {
	want, got := portableOps(), fastestOps()
	r := rand.New(rand.NewPCG(3, 4))
	data := make([]byte, 4096)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	for n := range 2000 {
		words := 1 << r.IntN(3)
		size := uint64(4 * words)
		base := r.Uint64() >> 1 &^ 15
		mask := randomArgument(r)
		var addr [32]uint64
		stride := uint64(r.IntN(5)) * size
		for i := range addr {
			addr[i] = base + uint64(i)*stride
			if r.IntN(4) == 0 {
				addr[i] = base + uint64(r.IntN(len(data)/16-1)*16)
			}
		}
		if r.IntN(2) == 0 { // one that is not there
			addr[r.IntN(32)] += []uint64{1, 2, 4096, 1 << 32, 1 << 63, -base, ^uint64(4095), 4000}[r.IntN(8)]
		}
		shift := uint64(r.IntN(5))
		if a, b := want.Sequential(&addr, shift), got.Sequential(&addr, shift); a != b {
			t.Fatalf("run %d: sequential %v, want %v: %x", n, b, a, addr)
		}
		limit := uint64(len(data)) - size
		a, b := want.Within(&addr, mask, base, limit, size-1), got.Within(&addr, mask, base, limit, size-1)
		if a != b {
			t.Fatalf("run %d: within %v, want %v: %x from %x, mask %x", n, b, a, addr, base, mask)
		}
		if !a || mask == 0 {
			continue
		}
		rows, others := make([]lanes, 4), make([]lanes, 4)
		want.Gather(rows, data, base, &addr, mask, words)
		got.Gather(others, data, base, &addr, mask, words)
		if !reflect.DeepEqual(rows, others) {
			t.Fatalf("run %d: gathered %x, want %x", n, others, rows)
		}
		for k := range rows {
			rows[k] = *randomLanes(r)
		}
		want.LoadRow(&rows[0], data[n:])
		got.LoadRow(&others[0], data[n:])
		if rows[0] != others[0] {
			t.Fatalf("run %d: row %x, want %x", n, others[0], rows[0])
		}
		memory, other := append([]byte(nil), data...), append([]byte(nil), data...)
		want.Scatter(memory, base, &addr, rows, mask, words)
		got.Scatter(other, base, &addr, rows, mask, words)
		want.StoreRow(memory[n:], &rows[1])
		got.StoreRow(other[n:], &rows[1])
		if !reflect.DeepEqual(memory, other) {
			t.Fatalf("run %d: scattered otherwise", n)
		}
	}
}
