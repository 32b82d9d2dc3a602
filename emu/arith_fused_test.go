package emu

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// Sums of products as MMA-Sim's model of Hopper has them, computed independently: testdata/mma_accumulate.tsv.
func TestFusedSums(t *testing.T) {
	data, err := os.ReadFile("testdata/mma_accumulate.tsv")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]struct {
		sum fusedSum
		typ uint16
	}{
		"f16.f32":  {fusedSum{align: 25, keep: 23}, sass.TypeF16},
		"e4m3.f32": {fusedSum{align: 13, keep: 13}, sass.TypeE4M3},
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		kind, ok := kinds[fields[0]]
		if !ok {
			continue
		}
		format := groupFormats[kind.typ]
		terms := func(text string) (all []term) {
			for number := range strings.SplitSeq(text, ",") {
				v, err := strconv.ParseFloat(number, 64)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, format.termOf(v))
			}
			return all
		}
		c := single.termOf(float64(math.Float32frombits(littleEndian(t, fields[3]))))
		got := kind.sum.dot(terms(fields[1]), terms(fields[2]), 2*format.frac, c, single.frac)
		if want := littleEndian(t, fields[4]); got != want {
			t.Errorf("%s: %08x, want %08x", line, got, want)
		}
		n++
	}
	if n != 82 {
		t.Errorf("%d vectors", n)
	}
}

func littleEndian(t *testing.T, text string) uint32 {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 4 {
		t.Fatalf("%q is not a word", text)
	}
	return binary.LittleEndian.Uint32(b)
}

func TestFusedSumSpecials(t *testing.T) {
	f32, f16 := fusedSum{align: 25, keep: 23}, fusedSum{align: 25, half: true}
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		a, b, c    float64
		want, half uint32
	}{
		{inf, 1, 0, 0x7f800000, 0x7c00},
		{inf, -1, 0, 0xff800000, 0xfc00},
		{inf, 0, 1, 0x7fffffff, 0x7fff},
		{inf, 1, -inf, 0x7fffffff, 0x7fff},
		{1, 1, nan, 0x7fffffff, 0x7fff},
		{1, 1, -1, 0, 0},
		{0x1p-24, 0x1p-24, 0, math.Float32bits(0x1p-48), 0},
		{60000, 60000, 0, math.Float32bits(3.6e9), 0x7c00},
		{1, 1, 0x1p-12, 0x3f800800, 0x3c00},
	} {
		format := groupFormats[sass.TypeF16]
		a, b, addend := []term{format.termOf(c.a)}, []term{format.termOf(c.b)}, single.termOf(c.c)
		if got := f32.dot(a, b, 20, addend, 23); got != c.want {
			t.Errorf("%g*%g+%g = %08x, want %08x", c.a, c.b, c.c, got, c.want)
		}
		if got := f16.dot(a, b, 20, addend, 23); got != c.half {
			t.Errorf("%g*%g+%g = %04x, want %04x", c.a, c.b, c.c, got, c.half)
		}
	}
}
