package sass_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"gpa/cubin/cubintest"
	"gpa/cubin/sass"
)

// A tally counts the instructions of one architecture.
type tally struct {
	instructions, words int // all instructions, and distinct words
	identical           int // instructions whose text is nvdisasm's
	encoded, parsed     int // instructions that encode, and whose text parses, to themselves
	differing           map[string]int
	examples            map[string]string
	occurrences         map[sass.Word]int
}

// TestLibraries measures the table on the device code below the folder that GPA_SASS_LIBRARIES names, cubins and libraries
// that embed them, against the nvdisasm that NVDISASM names:
//
//	GPA_SASS_LIBRARIES=DIR NVDISASM=… go test ./cubin/sass -run TestLibraries -v -timeout 1h
//
// Of each library and architecture it takes cubins from all over the file until they have GPA_SASS_SAMPLE instructions
// (200,000 where it is not set); GPA_SASS_ARCHS chooses the architectures, as in 70,80,90, which is what goes without
// saying. It prints, for each architecture, the instructions, the shares that have nvdisasm's text, encode to themselves
// and parse to themselves in the assembler's notation, and what differs or is opaque ([sass.Inst.Opaque]), by mnemonic, the
// most frequent first.
func TestLibraries(t *testing.T) {
	if os.Getenv("NVDISASM") == "" {
		t.Skip("NVDISASM is not set")
	}
	libraries, archs := cubintest.OfEnvironment(t), chosen(t)
	tallies := make(map[sass.Arch]*tally)
	for _, a := range archs {
		tallies[a] = &tally{occurrences: make(map[sass.Word]int), differing: make(map[string]int), examples: make(map[string]string)}
	}
	err := libraries.Visit(archs, func(arch sass.Arch, code []byte) (int, error) { return tallies[arch].collect(code) })
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range archs {
		if tallies[a].measure(t, a); tallies[a].instructions > 0 {
			tallies[a].print(t, a)
		}
	}
}

// chosen returns the architectures that GPA_SASS_ARCHS names.
func chosen(t *testing.T) (archs []sass.Arch) {
	t.Helper()
	for _, name := range strings.Split(cmp.Or(os.Getenv("GPA_SASS_ARCHS"), "70,80,90"), ",") {
		n, err := strconv.Atoi(name)
		if err != nil {
			t.Fatalf("GPA_SASS_ARCHS: %v", err)
		}
		archs = append(archs, sass.Arch(n))
	}
	return archs
}

// collect counts the words of a cubin.
func (l *tally) collect(code []byte) (int, error) {
	words, err := wordsOf(code)
	for _, w := range words {
		l.occurrences[w]++
	}
	return len(words), err
}

// measure compares every distinct word.
func (l *tally) measure(t *testing.T, arch sass.Arch) {
	words := make([]sass.Word, 0, len(l.occurrences))
	for w := range l.occurrences {
		words = append(words, w)
	}
	slices.SortFunc(words, func(a, b sass.Word) int {
		return strings.Compare(fmt.Sprintf("%016x%016x", a.Hi, a.Lo), fmt.Sprintf("%016x%016x", b.Hi, b.Lo))
	})
	l.words = len(words)
	for part := range slices.Chunk(words, 1<<16) {
		for i, want := range nvdisasm(t, arch, part) {
			l.one(arch, uint64(i*sass.InstSize), part[i], want)
		}
	}
}

// one compares one word.
func (l *tally) one(arch sass.Arch, pc uint64, w sass.Word, want string) {
	n := l.occurrences[w]
	l.instructions += n
	inst, err := sass.Decode(arch, pc, w)
	if err != nil {
		l.differs("unknown", n, w, "", want)
		return
	}
	got := inst.Text()
	if got == want {
		l.identical += n
	} else {
		l.differs("text", n, w, got, want)
	}
	if back, err := sass.Encode(&inst); err == nil && back == w {
		l.encoded += n
	} else {
		l.differs("encode", n, w, fmt.Sprintf("%016x%016x %v", back.Hi, back.Lo, err), want)
	}
	if inst.Opaque() {
		l.differs("opaque", n, w, got, want)
	}
	exact := inst.AssemblyText(nil)
	back, err := sass.Parse(arch, pc, exact, inst.Control)
	switch {
	case err != nil:
		l.differs("parse", n, w, err.Error(), exact)
	case back.Word != w:
		l.differs("parsed word", n, w, fmt.Sprintf("%016x%016x", back.Word.Hi, back.Word.Lo), exact)
	default:
		l.parsed += n
	}
}

// differs notes n instructions that differ, under the opcode of their text.
func (l *tally) differs(how string, n int, w sass.Word, got, want string) {
	mnemonic := want
	if strings.HasPrefix(mnemonic, "@") {
		_, mnemonic, _ = strings.Cut(mnemonic, " ")
	}
	mnemonic, _, _ = strings.Cut(mnemonic, " ")
	key := fmt.Sprintf("%s %03x %s", how, w.Lo&0xfff, mnemonic)
	l.differing[key] += n
	if _, ok := l.examples[key]; !ok {
		l.examples[key] = fmt.Sprintf("%016x%016x %q, nvdisasm %q", w.Hi, w.Lo, got, want)
	}
}

func (l *tally) print(t *testing.T, arch sass.Arch) {
	share := func(n int) float64 { return 100 * float64(n) / float64(l.instructions) }
	t.Logf("sm_%d: %d instructions, %d distinct words: %.5f %% have nvdisasm's text, %.5f %% encode and %.5f %% parse to themselves",
		arch, l.instructions, l.words, share(l.identical), share(l.encoded), share(l.parsed))
	keys := make([]string, 0, len(l.differing))
	for k := range l.differing {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		a, b := keys[i], keys[j]
		return l.differing[a] > l.differing[b] || l.differing[a] == l.differing[b] && a < b
	})
	for _, k := range keys {
		t.Logf("sm_%d: %d %s: %s", arch, l.differing[k], k, l.examples[k])
	}
}
