package sass_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// laterArchs are the architectures after sm_70 that have goldens of their own: a word of each shape in the project's
// kernels.
var laterArchs = []sass.Arch{sass.SM75, sass.SM80, sass.SM86, sass.SM89, sass.SM90, sass.SM100, sass.SM120}

// allArchs are all architectures.
var allArchs = append([]sass.Arch{sass.SM70}, laterArchs...)

// TestLaterGoldens holds for sm_75 to sm_90 that every committed word decodes to nvdisasm's text, encodes to itself, and
// that its text parses to an instruction that prints the same. With -update and NVDISASM it writes the files anew.
func TestLaterGoldens(t *testing.T) {
	for _, arch := range laterArchs {
		t.Run(fmt.Sprintf("sm_%d", arch), func(t *testing.T) {
			file := fmt.Sprintf("testdata/sm_%d.txt", arch)
			if *update {
				updateLater(t, arch, file)
			}
			for _, g := range readGoldenFile(t, file) {
				checkGolden(t, arch, g)
			}
		})
	}
}

func checkGolden(t *testing.T, arch sass.Arch, g golden) {
	t.Helper()
	inst, err := sass.Decode(arch, 0, g.word)
	if err != nil {
		t.Errorf("%v, want %s", err, g.text)
		return
	}
	if got := inst.Text(); got != g.text {
		t.Errorf("%016x%016x\n got %q\nwant %q", g.word.Hi, g.word.Lo, got, g.text)
	}
	if w, err := sass.Encode(&inst); err != nil || w != g.word {
		t.Errorf("%s: encode: got %016x%016x, %v; want %016x%016x", g.text, w.Hi, w.Lo, err, g.word.Hi, g.word.Lo)
	}
	checkParse(t, &inst)
}

// updateLater writes a word of each shape of the project's kernels and of the file as it is with nvdisasm's text. Words
// that are not known, or whose text is not nvdisasm's, are left out and logged.
func updateLater(t *testing.T, arch sass.Arch, file string) {
	words := corpusWords(t, fmt.Sprintf("../../kernels/*/*/*sm_%d*.cubin.gz", arch))
	if *cubins != "" {
		words = append(words, corpusWords(t, strings.ReplaceAll(*cubins, "ARCH", fmt.Sprint(arch)))...)
	}
	if _, err := os.Stat(file); err == nil {
		for _, g := range readGoldenFile(t, file) {
			words = append(words, g.word)
		}
	}
	words = append(words, wordsOfRows(t, arch, words)...)
	seen := make(map[string]bool)
	var out strings.Builder
	texts := nvdisasm(t, arch, words)
	for i, w := range words {
		inst, err := sass.Decode(arch, uint64(i*sass.InstSize), w)
		if err != nil || inst.Text() != texts[i] {
			t.Logf("left out: %016x%016x %s", w.Hi, w.Lo, texts[i])
			continue
		}
		if key := shape(&inst); !seen[key] {
			seen[key] = true
			at0, err := sass.Decode(arch, 0, w)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%016x%016x\t%s\n", w.Hi, w.Lo, at0.Text())
		}
	}
	if err := os.WriteFile(file, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestUniformOperands holds what instructions read and write that have uniform registers, descriptors or code addresses
// in two parts.
func TestUniformOperands(t *testing.T) {
	for _, c := range []struct {
		arch       sass.Arch
		text       string
		uses, defs []sass.Resource
	}{
		{sass.SM80, "UIADD3 UR10, UP0, UR4, 0x4, URZ", []sass.Resource{sass.ResUReg + 4}, []sass.Resource{sass.ResUReg + 10, sass.ResUPred}},
		{sass.SM80, "IADD3 R4, P0, R2, UR4, RZ", []sass.Resource{2, sass.ResUReg + 4}, []sass.Resource{4, sass.ResPred}},
		{sass.SM80, "HMMA.16816.F32 R4, R12, R22, R4", []sass.Resource{12, 13, 14, 15, 22, 23, 4, 5, 6, 7}, []sass.Resource{4, 5, 6, 7}},
		{sass.SM90, "LDG.E.64 R8, desc[UR4][R14.64]", []sass.Resource{14, 15, sass.ResUReg + 4, sass.ResUReg + 5}, []sass.Resource{8, 9}},
		{sass.SM90, "REDUX.SUM UR5, R7", []sass.Resource{7}, []sass.Resource{sass.ResUReg + 5}},
		{sass.SM90, "DADD R6, R6, -UR8", []sass.Resource{6, 7, sass.ResUReg + 8, sass.ResUReg + 9}, []sass.Resource{6, 7}},
		{sass.SM90, "IMAD.HI.U32 R10, R17, R13, R14", []sass.Resource{17, 13, 14, 15}, []sass.Resource{10}},
	} {
		inst, err := sass.Parse(c.arch, 0, c.text, sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := inst.Uses(nil); fmt.Sprint(got) != fmt.Sprint(c.uses) {
			t.Errorf("%s uses %v, want %v", c.text, got, c.uses)
		}
		if got := inst.Defs(nil); fmt.Sprint(got) != fmt.Sprint(c.defs) {
			t.Errorf("%s defines %v, want %v", c.text, got, c.defs)
		}
	}
}
