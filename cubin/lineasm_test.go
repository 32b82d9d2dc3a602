package cubin

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestLinesOfTriton looks up what accesses memory in a kernel of Triton's, whose line table has most of its loads three lines too far down.
func TestLinesOfTriton(t *testing.T) {
	f, err := Open("testdata/triton/rows.cubin")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("testdata/triton/rows.py")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(source), "\n")
	calls := map[string]string{"LDG": "tl.load(", "STG": "tl.store(", "ATOMG": "tl.atomic_add("}
	found, shifted := make(map[string]int), 0
	for _, code := range f.Codes {
		for i := range code.Insts {
			pc := code.Insts[i].PC
			mnemonic, _, _ := strings.Cut(code.Insts[i].Mnemonic(), ".")
			call := calls[mnemonic]
			if call == "" {
				continue
			}
			found[mnemonic]++
			if code.lines.shiftAt(pc) > 0 {
				shifted++
			}
			frames := code.Frames(pc)
			if at := frames[len(frames)-1]; at.Line < 1 || at.Line > len(lines) || !strings.Contains(lines[at.Line-1], call) {
				t.Errorf("%s at 0x%x is said to be at %s:%d", mnemonic, pc, at.File, at.Line)
			}
		}
	}
	if found["LDG"] < 10 || found["STG"] < 2 || found["ATOMG"] < 1 || shifted < 10 {
		t.Errorf("%v, %d of them moved", found, shifted)
	}
}

// TestShiftsOfInlinePTX counts in what is left of the PTX's text.
func TestShiftsOfInlinePTX(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []int
	}{
		"a block, and what comes behind it": {
			"add.f32 \t%r1;|||mov.u32 %r1, 0x0;||mov.u32 %r2, 0x0;|@%p1 ld.global.v2.b32 { %r1, %r2 }, [ %rd1 + 0 ];|||add.f32 \t%r5;||add.f32 \t%r6;",
			[]int{0, 0, 1, 1, 1, 0},
		},
		"blocks of one statement": {
			"add.f32 \t%r1;|||mov.u32 %r1, 0x0;||ld.global.b32 { %r1 }, [ %rd1 + 0 ];|||||mov.u32 %r1, 0x0;||ld.global.b32 { %r1 }, [ %rd1 + 0 ];",
			[]int{0, 0, 1, 0, 1},
		},
		"a predicated block without a directive of its own": {
			"add.f32 \t%r1;|||mov.u32 %r1, 0x0;||mov.u32 %r2, 0x0;||||@%p1 st.global.b32 [ %rd1 + 0 ], { %r1 };",
			[]int{0, 0, 1, 1},
		},
		"a directive behind a block": {
			"add.f32 \t%r1;|||mov.u32 %r1, 0x0;||mov.u32 %r2, 0x0;||||add.f32 \t%r5;",
			[]int{0, 0, 1, 0},
		},
		"a line without a directive counts": {
			"|||@%p1 red.global.add.f32 [ %rd1 + 0 ], %r1;||mov.u32 %r2, 0x0;",
			[]int{0, 1},
		},
		"no directives within blocks: compilers before": {
			"add.f32 \t%r1;|||mov.u32 %r1, 0x0;|mov.u32 %r2, 0x0;|ld.global.v2.b32 { %r1, %r2 }, [ %rd1 + 0 ];|||add.f32 \t%r5;",
			[]int{0, 0, 0, 0, 0},
		},
	} {
		var got []int
		text := strings.Split(c.text, "|")
		for i, shift := range inlineShifts([]byte(strings.ReplaceAll(c.text, "|", "\x00"))) {
			if text[i] != "" {
				got = append(got, shift)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
