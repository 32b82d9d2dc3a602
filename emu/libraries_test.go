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
// (200,000 where it is not set). It prints, for each architecture, the instructions and the share of them that can be executed, the
// kernels and those without an instruction that is refused, and the mnemonics that cannot be executed: in how many instructions and in how
// many kernels, and of how many kernels each is all that is refused. It fails where one of them is not of [notExecuted].
func TestLibraries(t *testing.T) {
	libraries := cubintest.OfEnvironment(t)
	counts := make(map[sass.Arch]*census)
	for _, a := range architectures {
		counts[a] = &census{words: make(map[sass.Word]string), refused: make(map[string]*refusal), examples: make(map[string]sass.Inst)}
	}
	err := libraries.Visit(architectures, func(arch sass.Arch, code []byte) (int, error) { return counts[arch].count(code) })
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range architectures {
		counts[a].report(t, a)
	}
}

// notExecuted are the opcodes of libraries of which the emulator decodes some forms only: textures and surfaces.
var notExecuted = map[sass.Op]bool{
	sass.TEX: true, sass.TLD: true, sass.SULD: true, sass.SUST: true,
}

// A census counts the instructions and the kernels of one architecture. A kernel is its section: what it calls in others is not looked at.
type census struct {
	instructions  int
	kernels, runs int                  // kernels, and those of which nothing is refused
	words         map[sass.Word]string // why each word is refused
	unread        []error              // why cubins cannot be read
	refused       map[string]*refusal  // by mnemonic
	examples      map[string]sass.Inst // one of each
}

// A refusal is in how many instructions and kernels a mnemonic is refused, and in how many of the kernels nothing else is.
type refusal struct{ instructions, kernels, alone int }

// count counts the instructions of a cubin, which may have none.
func (c *census) count(code []byte) (int, error) {
	module, err := cubin.NewFile("entry", code)
	if errors.Is(err, cubin.ErrNoCode) {
		return 0, nil
	}
	if err != nil {
		c.unread = append(c.unread, err)
		return 0, nil
	}
	instructions := 0
	reasons := make([]map[string]bool, len(module.Codes))
	for _, code := range module.Codes {
		instructions += len(code.Insts)
		reasons[code.Index] = make(map[string]bool)
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
				if c.refused[why] == nil {
					c.refused[why] = new(refusal)
				}
				c.refused[why].instructions++
				reasons[code.Index][why] = true
			}
		}
	}
	c.instructions += instructions
	for _, k := range module.Kernels {
		c.kernel(reasons[k.Code.Index])
	}
	return instructions, nil
}

// kernel counts a kernel.
func (c *census) kernel(reasons map[string]bool) {
	c.kernels++
	if len(reasons) == 0 {
		c.runs++
	}
	for why := range reasons {
		c.refused[why].kernels++
		if len(reasons) == 1 {
			c.refused[why].alone++
		}
	}
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
	if n := len(c.unread); n > 0 {
		t.Errorf("sm_%d: %d cubins cannot be read, the first because of %v", arch, n, c.unread[0])
	}
	sum := 0
	for _, n := range c.refused {
		sum += n.instructions
	}
	t.Logf("sm_%d: %d instructions, %.4f %% of them can be executed", arch, c.instructions, 100-100*float64(sum)/float64(c.instructions))
	t.Logf("sm_%d: %d kernels, %d of them (%.2f %%) have no instruction that is refused", arch, c.kernels, c.runs, 100*float64(c.runs)/float64(max(c.kernels, 1)))
	for _, why := range slices.SortedFunc(maps.Keys(c.refused), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.refused[b].kernels, c.refused[a].kernels), cmp.Compare(c.refused[b].instructions, c.refused[a].instructions), strings.Compare(a, b))
	}) {
		in, n := c.examples[why], c.refused[why]
		t.Logf("sm_%d: %7d in %5d kernels, %5d of them for it alone: %s, as %016x_%016x %s", arch, n.instructions, n.kernels, n.alone, why, in.Word.Hi, in.Word.Lo, in.Text())
		if !notExecuted[in.Op] {
			t.Errorf("sm_%d: %s is not executed", arch, why)
		}
	}
}
