package emu

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/cubintest"
	"gpa/cubin/sass"
)

// TestLibraries looks for what compiled code has and the emulator refuses, in the device code below the folder that
// GPA_SASS_LIBRARIES names, cubins and libraries that embed them:
//
//	GPA_SASS_LIBRARIES=DIR go test ./emu -run TestLibraries -v -timeout 1h
//
// Of each library and architecture it takes cubins from all over the file until they have GPA_SASS_SAMPLE instructions
// (200,000 where it is not set). It prints, for each architecture, the instructions, the share that can be executed, and
// the mnemonics that cannot, the most frequent first. It fails where one of them is not of [notExecuted].
func TestLibraries(t *testing.T) {
	libraries := cubintest.OfEnvironment(t)
	counts := make(map[sass.Arch]*census)
	for _, a := range architectures {
		counts[a] = &census{words: make(map[sass.Word]string), refused: make(map[string]int), examples: make(map[string]sass.Inst)}
	}
	err := libraries.Visit(architectures, func(arch sass.Arch, code []byte) (int, error) { return counts[arch].count(code) })
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range architectures {
		counts[a].report(t, a)
	}
}

// notExecuted are the opcodes of libraries that the emulator decodes only: textures and surfaces.
var notExecuted = map[sass.Op]bool{
	sass.TEX: true, sass.TLD: true, sass.SULD: true, sass.SUST: true,
}

// A census counts the instructions of one architecture.
type census struct {
	instructions int
	words        map[sass.Word]string // why each word is refused
	refused      map[string]int       // instructions, by mnemonic
	examples     map[string]sass.Inst // one of each
}

// count counts the instructions of a cubin, which may have none.
func (c *census) count(code []byte) (int, error) {
	module, err := cubin.NewFile("entry", code)
	if errors.Is(err, cubin.ErrNoCode) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	instructions := 0
	for _, code := range module.Codes {
		instructions += len(code.Insts)
		for i := range code.Insts {
			in := &code.Insts[i]
			word := sass.Word{Lo: in.Word.Lo, Hi: in.Word.Hi & (1<<41 - 1)} // without the control fields
			why, ok := c.words[word]
			if !ok {
				why = whyRefused(*in)
				c.words[word] = why
				c.examples[why] = *in
			}
			if why != "" {
				c.refused[why]++
			}
		}
	}
	c.instructions += instructions
	return instructions, nil
}

// whyRefused is the mnemonic of an instruction that the emulator does not execute, else empty.
func whyRefused(in sass.Inst) string {
	if in.Op == sass.OpNone {
		return fmt.Sprintf("unknown word of opcode %#x", in.Word.Lo&0xfff)
	}
	if compilers[in.Op] == nil || refused(in) {
		return in.Mnemonic()
	}
	return ""
}

func (c *census) report(t *testing.T, arch sass.Arch) {
	if c.instructions == 0 {
		return
	}
	sum := 0
	for _, n := range c.refused {
		sum += n
	}
	t.Logf("sm_%d: %d instructions, %.4f %% of them can be executed", arch, c.instructions, 100-100*float64(sum)/float64(c.instructions))
	for _, why := range slices.SortedFunc(maps.Keys(c.refused), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.refused[b], c.refused[a]), strings.Compare(a, b))
	}) {
		in := c.examples[why]
		t.Logf("sm_%d: %7d %s, as %016x_%016x %s", arch, c.refused[why], why, in.Word.Hi, in.Word.Lo, in.Text())
		if !notExecuted[in.Op] {
			t.Errorf("sm_%d: %s is not executed", arch, why)
		}
	}
}
