package sass_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
)

var (
	update = flag.Bool("update", false, "rewrite testdata/sm_70.txt from nvdisasm; needs NVDISASM")
	cubins = flag.String("cubins", "", "with -update: more cubins, as a pattern, whose forms the goldens must cover")
)

const (
	goldenFile = "testdata/sm_70.txt"
	// corpusFile has every distinct word of the project's own kernels.
	corpusFile = "testdata/corpus_sm_70.txt"
	// corpusPattern matches the cubins of the project's own kernels.
	corpusPattern = "../../kernels/*/*/*sm_70*.cubin.gz"
)

// A golden is a word and nvdisasm's text for it at address 0.
type golden struct {
	word sass.Word
	text string
}

func parseWord(t testing.TB, s string) sass.Word {
	t.Helper()
	hi, err1 := strconv.ParseUint(s[:min(16, len(s))], 16, 64)
	lo, err2 := strconv.ParseUint(s[min(16, len(s)):], 16, 64)
	if err1 != nil || err2 != nil || len(s) != 32 {
		t.Fatalf("word %q: want 32 hexadecimal digits", s)
	}
	return sass.Word{Lo: lo, Hi: hi}
}

func readGoldens(t testing.TB) []golden { return readGoldenFile(t, goldenFile) }

func readGoldenFile(t testing.TB, name string) []golden {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	for line := range strings.Lines(string(data)) {
		hex, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("%s: line %q: want a word, a tab and its text", name, line)
		}
		all = append(all, golden{parseWord(t, hex), text})
	}
	return all
}

// TestGoldens holds that every committed word decodes to nvdisasm's text and encodes to itself, and that the text
// parses to an instruction that prints the same.
func TestGoldens(t *testing.T) {
	if *update {
		updateGoldens(t)
	}
	for _, g := range readGoldens(t) {
		inst, err := sass.Decode(sass.SM70, 0, g.word)
		if err != nil {
			t.Errorf("%v, want %s", err, g.text)
			continue
		}
		if got := inst.Text(); got != g.text {
			t.Errorf("%016x%016x\n got %q\nwant %q", g.word.Hi, g.word.Lo, got, g.text)
		}
		if w, err := sass.Encode(&inst); err != nil || w != g.word {
			t.Errorf("%s: encode: got %016x%016x, %v; want %016x%016x", g.text, w.Hi, w.Lo, err, g.word.Hi, g.word.Lo)
		}
		checkParse(t, &inst)
	}
}

// checkParse parses the text of an instruction, and that for the assembler, and compares. The word may differ in bits that
// nothing prints.
func checkParse(t *testing.T, inst *sass.Inst) {
	t.Helper()
	control, err := sass.ParseControl(inst.Control.String())
	if err != nil {
		t.Errorf("%s: %v", inst, err)
		return
	}
	if _, err := sass.Parse(inst.Arch, inst.PC, inst.Text(), control); err != nil {
		t.Errorf("parse %q: %v", inst, err)
	}
	text := inst.AssemblyText(nil)
	back, err := sass.Parse(inst.Arch, inst.PC, text, control)
	if err != nil {
		t.Errorf("parse %q: %v", text, err)
		return
	}
	if back.AssemblyText(nil) != text || back.Text() != inst.Text() || back.Control != inst.Control {
		t.Errorf("parse %q %v: got %q %v", text, inst.Control, &back, back.Control)
	}
}

// TestCorpus holds that every instruction of the project's own kernels has nvdisasm's text, encodes to itself, and is
// assembled from its text to the very same word. NaNs may lose their payload.
func TestCorpus(t *testing.T) {
	words := corpusWords(t, corpusPattern)
	if len(words) == 0 {
		t.Fatalf("no cubins match %s", corpusPattern)
	}
	if *update {
		writeGoldens(t, corpusFile, words)
	}
	texts := make(map[sass.Word]string)
	for _, g := range readGoldenFile(t, corpusFile) {
		texts[g.word] = g.text
	}
	for _, w := range words {
		inst, err := sass.Decode(sass.SM70, 0, w)
		if err != nil {
			t.Error(err)
			continue
		}
		if want, ok := texts[w]; !ok || inst.Text() != want {
			t.Errorf("%016x%016x\n got %q\nwant %q (go test -update writes the file anew)", w.Hi, w.Lo, inst.Text(), want)
		}
		if back, err := sass.Encode(&inst); err != nil || back != w {
			t.Errorf("%s: encode: %v, got %x, want %x", &inst, err, back, w)
		}
		control, err := sass.ParseControl(inst.Control.String())
		if err != nil {
			t.Errorf("%s: %v", &inst, err)
		}
		back, err := sass.Parse(sass.SM70, 0, inst.Text(), control)
		if err != nil || back.Word != w && !strings.Contains(inst.Text(), "NAN ") {
			t.Errorf("parse %q: %v, got %x, want %x", &inst, err, back.Word, w)
		}
	}
	t.Logf("%d distinct words of the corpus have nvdisasm's text and encode to themselves", len(words))
}

// corpusWords returns the distinct words of the cubins that match, in order of appearance.
func corpusWords(t testing.TB, pattern string) []sass.Word {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[sass.Word]bool)
	var words []sass.Word
	for _, file := range files {
		for _, w := range cubinWords(t, file) {
			if !seen[w] {
				seen[w] = true
				words = append(words, w)
			}
		}
	}
	return words
}

// cubinWords returns the instruction words of a cubin. Its ELF version is NVIDIA's own, which debug/elf refuses.
func cubinWords(t testing.TB, file string) []sass.Word {
	t.Helper()
	data, err := cubin.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	words, err := wordsOf(data)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return words
}

// wordsOf returns the words of a cubin's code. It changes the cubin's header.
func wordsOf(data []byte) ([]sass.Word, error) {
	if len(data) < 24 {
		return nil, errors.New("no cubin")
	}
	binary.LittleEndian.PutUint32(data[20:], uint32(elf.EV_CURRENT))
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var words []sass.Word
	for _, s := range f.Sections {
		if s.Type != elf.SHT_PROGBITS || !strings.HasPrefix(s.Name, ".text.") {
			continue
		}
		code, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		for ; len(code) >= sass.InstSize; code = code[sass.InstSize:] {
			words = append(words, sass.Word{Lo: binary.LittleEndian.Uint64(code), Hi: binary.LittleEndian.Uint64(code[8:])})
		}
	}
	return words, nil
}

// updateGoldens collects one word of every shape in the committed goldens and the corpora, and random words of every
// form, and writes them with nvdisasm's text.
func updateGoldens(t *testing.T) {
	shapes := make(map[string]sass.Word)
	add := func(words []sass.Word, most int) {
		forms := make(map[*sass.Form]int)
		for _, w := range words {
			inst, err := sass.Decode(sass.SM70, 0, w)
			if err != nil {
				t.Logf("not covered: %v", err)
				continue
			}
			key := shape(&inst)
			if _, ok := shapes[key]; !ok && forms[inst.Form] < most {
				shapes[key] = w
				forms[inst.Form]++
			}
		}
	}
	if _, err := os.Stat(goldenFile); err == nil {
		for _, g := range readGoldens(t) {
			add([]sass.Word{g.word}, 1)
		}
	}
	add(corpusWords(t, corpusPattern), 1<<20)
	add(corpusWords(t, *cubins), 1<<20)
	add(wordsOfRows(t, sass.SM70, slices.Collect(maps.Values(shapes))), 1<<20)
	keys := make([]string, 0, len(shapes))
	for k := range shapes {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	words := make([]sass.Word, len(keys))
	for i, k := range keys {
		words[i] = shapes[k]
	}
	writeGoldens(t, goldenFile, words)
}

// writeGoldens writes words with nvdisasm's text. Words that the file has keep the text that nvdisasm once gave them.
func writeGoldens(t *testing.T, name string, words []sass.Word) {
	t.Helper()
	texts := make(map[sass.Word]string)
	for _, g := range readGoldenFile(t, name) {
		texts[g.word] = g.text
	}
	var missing []sass.Word
	for _, w := range words {
		if _, ok := texts[w]; !ok {
			missing = append(missing, w)
		}
	}
	if len(missing) > 0 {
		for i, text := range textAtZero(t, missing) {
			texts[missing[i]] = text
		}
	}
	var out bytes.Buffer
	for _, w := range words {
		fmt.Fprintf(&out, "%016x%016x\t%s\n", w.Hi, w.Lo, texts[w])
	}
	if err := os.WriteFile(name, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d goldens", name, len(words))
}

// textAtZero returns nvdisasm's texts as of words that each lie at address 0: relative branches are disassembled one by
// one.
func textAtZero(t *testing.T, words []sass.Word) []string {
	text := nvdisasm(t, sass.SM70, words)
	for i, w := range words {
		inst, err := sass.Decode(sass.SM70, 0, w)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range inst.Operands {
			if o.Kind == sass.KindTarget {
				text[i] = nvdisasm(t, sass.SM70, words[i:i+1])[0]
			}
		}
	}
	return text
}

// shape returns what tells instructions apart for a golden: opcode, modifier values, and of the operands everything but
// numbers, save whether they are the ones that are special.
func shape(i *sass.Inst) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%03x %s %d%v", i.Form.Opcode, i.Op, i.Guard.Reg/sass.PT, i.Mods)
	for _, o := range i.Operands {
		fmt.Fprintf(&b, " %d%v%v%v%v%d", o.Kind, o.Neg, o.Abs, o.Not, o.Reuse, o.Swz)
		switch o.Kind {
		case sass.KindReg, sass.KindMem, sass.KindConst:
			fmt.Fprintf(&b, "%v%v%v", o.Reg == sass.RZ, o.Offset < 0, o.Offset == 0)
		case sass.KindPred:
			fmt.Fprint(&b, o.Reg == sass.PT)
		case sass.KindImm, sass.KindTarget:
			fmt.Fprintf(&b, "%d%v", bits.Len64(o.Imm)/8, int32(o.Imm) < 0)
		case sass.KindSReg:
			fmt.Fprint(&b, o.Imm)
		}
	}
	return b.String()
}
