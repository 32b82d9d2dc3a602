package sass_test

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// The tests in this file need NVIDIA's disassembler, named by the environment variable NVDISASM, for sm_100 and later CUDA 13's,
// named by NVDISASM13, and are skipped without it.

// nop stands in for words that nvdisasm rejects: one bad word would suppress the text of all others.
var nop = sass.Word{Lo: 0x7918, Hi: 0x000fc00000000000}

var (
	badAddress = regexp.MustCompile(`(?i)error.*?at address (0x[0-9a-f]+)`)
	textLine   = regexp.MustCompile(`(?m)^\s*/\*([0-9a-f]+)\*/\s+(.*?)[ ;]*$`)
)

// nvdisasm returns the text of every word, the i-th at pc 16*i; "" for words that it rejects.
func nvdisasm(t testing.TB, arch sass.Arch, words []sass.Word) []string {
	t.Helper()
	cur := slices.Clone(words)
	bad := make(map[int]bool)
	reject := func(i int) { bad[i], cur[i] = true, nop }
	for {
		out, err := runNvdisasm(t, arch, cur)
		if err == nil {
			return textOf(t, out, len(words), bad)
		}
		before := len(bad)
		for _, m := range badAddress.FindAllStringSubmatch(out, -1) {
			a, _ := strconv.ParseUint(m[1], 0, 64)
			reject(int(a / sass.InstSize))
		}
		switch {
		case strings.Contains(out, "More than one pattern matched"): // it does not say where
			reject(sort.Search(len(cur), func(i int) bool {
				out, _ := runNvdisasm(t, arch, cur[:i+1])
				return strings.Contains(out, "More than one pattern matched")
			}))
		case len(bad) == before:
			t.Fatalf("nvdisasm: %v\n%s", err, out)
		}
	}
}

// runNvdisasm returns what nvdisasm says of the words, or of its errors.
func runNvdisasm(t testing.TB, arch sass.Arch, words []sass.Word) (string, error) {
	t.Helper()
	variable := "NVDISASM"
	if arch >= sass.SM100 {
		variable = "NVDISASM13"
	}
	tool := os.Getenv(variable)
	if tool == "" {
		t.Skip(variable + " is not set")
	}
	raw := make([]byte, 0, len(words)*sass.InstSize)
	for _, w := range words {
		raw = binary.LittleEndian.AppendUint64(raw, w.Lo)
		raw = binary.LittleEndian.AppendUint64(raw, w.Hi)
	}
	file := filepath.Join(t.TempDir(), "words.bin")
	if err := os.WriteFile(file, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool, "-b", fmt.Sprintf("SM%d", arch), "-ndf", file).CombinedOutput()
	return string(out), err
}

// textOf collects the lines of a listing.
func textOf(t testing.TB, listing string, n int, bad map[int]bool) []string {
	t.Helper()
	text := make([]string, n)
	for _, m := range textLine.FindAllStringSubmatch(listing, -1) {
		a, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil || a/sass.InstSize >= uint64(n) {
			t.Fatalf("nvdisasm: unexpected line %q", m[0])
		}
		if i := int(a / sass.InstSize); !bad[i] {
			text[i] = strings.TrimRight(m[2], " ;")
		}
	}
	return text
}

// undefined are words that nvdisasm gives a text and the table has no row for, as nothing is known to have them.
var undefined = []struct {
	arch sass.Arch      // 0 for all
	bit  uint8          // that is set, 0 for none
	text *regexp.Regexp // of nvdisasm, behind the guard
	why  string
}{
	{sass.SM75, 91, regexp.MustCompile(``), "on sm_75 nvdisasm ignores the bit of uniform operands where there can be none"},
	{0, 0, regexp.MustCompile(`^[HID]MMA\.`), "shapes and types that the PTX ISA's mma does not have"},
	{0, 0, regexp.MustCompile(`^MOVM\.16\.M8(32|64) `), "the PTX ISA's movmatrix has matrices of 8 by 8 halves only"},
	{0, 0, regexp.MustCompile(`^F2FP\.`), "conversions that the PTX ISA does not have for the architecture"},
	{0, 72, regexp.MustCompile(`^MUFU\.`), "nvdisasm ignores the bit"},
	{0, 0, regexp.MustCompile(`^ATOMS?(\.E)?\.CAS[. ]`), "nvdisasm ignores bits of the operation"},
	{0, 91, regexp.MustCompile(`^(CALL|RET)\.(REL|ABS)(\.\w+)? (!?P\w+, )?UR`), "no compiler calls through uniform registers"},
	{0, 50, regexp.MustCompile(`^(AL2P|ALD|AST)[.\w]* .*?(a\[|, )0x`), "nvdisasm ignores the sign of an attribute's address"},
	{sass.SM70, 77, regexp.MustCompile(`^(ALD|AST)`), "nvdisasm ignores .PHYS beside .P"},
	{sass.SM75, 77, regexp.MustCompile(`^(ALD|AST)`), "nvdisasm ignores .PHYS beside .P and where there is no register"},
	{sass.SM70, 0, regexp.MustCompile(`^OUT\.FINAL`), "nvdisasm ignores the registers that .FINAL has no use for"},
	{sass.SM75, 0, regexp.MustCompile(`^OUT\.FINAL`), "nvdisasm ignores the registers that .FINAL has no use for"},
	{sass.SM120, 0, regexp.MustCompile(`^[QO]MMA\.`), "nvdisasm ignores the bits of the layouts, which are always the same, and sparse products with scales"},
	{sass.SM90, 0, regexp.MustCompile(`^SYNCS\.CAS\.64 .*, UR60, UR62$`), "nvdisasm takes URZ, of which there are no pairs side by side, for the last four registers"},
}

func isUndefined(arch sass.Arch, w sass.Word, text string) bool {
	if strings.HasPrefix(text, "@") {
		_, text, _ = strings.Cut(text, " ")
	}
	for _, u := range undefined {
		if (u.arch == 0 || u.arch == arch) && (u.bit == 0 || bit(w, u.bit)) && u.text.MatchString(text) {
			return true
		}
	}
	return false
}

func bit(w sass.Word, n uint8) bool {
	if n < 64 {
		return w.Lo>>n&1 != 0
	}
	return w.Hi>>(n-64)&1 != 0
}

// compare checks the text of every word against nvdisasm's. Words that either side rejects are counted, not compared:
// a legal word of a program is accepted by both, and nvdisasm names illegal field values INVALID or ???. What only nvdisasm
// accepts must be undefined.
func compare(t *testing.T, arch sass.Arch, words []sass.Word) (both, onlyHere, onlyThere int) {
	t.Helper()
	const batch = 1 << 13
	for from := 0; from < len(words); from += batch {
		part := words[from:min(from+batch, len(words))]
		for i, want := range nvdisasm(t, arch, part) {
			inst, err := sass.Decode(arch, uint64(i*sass.InstSize), part[i])
			illegal := want == "" || strings.Contains(want, "INVALID") || strings.Contains(want, "???")
			switch {
			case err != nil && !illegal:
				if onlyThere++; !isUndefined(arch, part[i], want) {
					t.Errorf("unknown here: %016x%016x %s", part[i].Hi, part[i].Lo, want)
				}
			case err != nil:
			case illegal:
				onlyHere++
			case inst.Text() != want:
				t.Errorf("%016x%016x\n got %q\nwant %q", part[i].Hi, part[i].Lo, inst.Text(), want)
			default:
				both++
			}
		}
	}
	return both, onlyHere, onlyThere
}

// TestNvdisasmGoldens rechecks every committed word.
func TestNvdisasmGoldens(t *testing.T) {
	if os.Getenv("NVDISASM") == "" {
		t.Skip("NVDISASM is not set")
	}
	var words []sass.Word
	for _, g := range readGoldens(t) {
		words = append(words, g.word)
	}
	if both, here, there := compare(t, sass.SM70, words); both != len(words) {
		t.Errorf("%d of %d words agree; %d are accepted here only, %d there only", both, len(words), here, there)
	}
}

// TestNvdisasmCorpus checks every instruction of the project's own kernels.
func TestNvdisasmCorpus(t *testing.T) {
	if os.Getenv("NVDISASM") == "" {
		t.Skip("NVDISASM is not set")
	}
	words := corpusWords(t, corpusPattern)
	both, here, there := compare(t, sass.SM70, words)
	if t.Logf("%d of %d words agree", both, len(words)); both != len(words) {
		t.Errorf("%d are accepted here only, %d there only", here, there)
	}
}

// TestNvdisasmFlips flips every bit of one golden of every form, but for the opcode and the dependence counters, whose
// rules nvdisasm keeps for itself.
func TestNvdisasmFlips(t *testing.T) {
	if os.Getenv("NVDISASM") == "" {
		t.Skip("NVDISASM is not set")
	}
	for _, arch := range allArchs {
		t.Run(fmt.Sprintf("sm_%d", arch), func(t *testing.T) {
			words := flips(arch, readGoldenFile(t, fmt.Sprintf("testdata/sm_%d.txt", arch)))
			both, here, there := compare(t, arch, words)
			t.Logf("%d words: %d agree, %d accepted here only, %d there only", len(words), both, here, there)
		})
	}
}

// flips returns the first golden of every form with each of its bits flipped.
func flips(arch sass.Arch, goldens []golden) (words []sass.Word) {
	seen := make(map[*sass.Form]bool)
	for _, g := range goldens {
		inst, err := sass.Decode(arch, 0, g.word)
		if err != nil || seen[inst.Form] {
			continue
		}
		seen[inst.Form] = true
		for b := range 64 {
			if b >= 12 {
				words = append(words, sass.Word{Lo: g.word.Lo ^ 1<<b, Hi: g.word.Hi})
			}
			if hi := b + 64; hi < 102 || hi == 104 || hi > 115 { // 102 and 103 tag an instruction for the profiler
				words = append(words, sass.Word{Lo: g.word.Lo, Hi: g.word.Hi ^ 1<<b})
			}
		}
	}
	return words
}

// TestNvdisasmRandom checks random words of every form. nvdisasm rejects more combinations than the table does.
func TestNvdisasmRandom(t *testing.T) {
	if os.Getenv("NVDISASM") == "" {
		t.Skip("NVDISASM is not set")
	}
	for _, arch := range allArchs {
		t.Run(fmt.Sprintf("sm_%d", arch), func(t *testing.T) {
			words := sass.RandomWords(arch, rand.New(rand.NewSource(1)), 50)
			both, here, there := compare(t, arch, words)
			t.Logf("%d words: %d agree, %d accepted here only, %d there only", len(words), both, here, there)
		})
	}
}
