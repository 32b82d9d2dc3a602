package sass_test

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

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

// TestLibraries measures the table on the cubins below the folder that GPA_SASS_LIBRARIES names, against the nvdisasm
// that NVDISASM names:
//
//	GPA_SASS_LIBRARIES=DIR NVDISASM=… go test ./cubin/sass -run TestLibraries -v
//
// It prints, for each architecture, the instructions, the shares that have nvdisasm's text, encode to themselves and
// parse to themselves, and the texts that differ, by mnemonic, the most frequent first.
func TestLibraries(t *testing.T) {
	dir := os.Getenv("GPA_SASS_LIBRARIES")
	if dir == "" || os.Getenv("NVDISASM") == "" {
		t.Skip("GPA_SASS_LIBRARIES and NVDISASM are not both set")
	}
	tallies := make(map[sass.Arch]*tally)
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".cubin" {
			return err
		}
		arch := cubinArch(t, file)
		l := tallies[arch]
		if l == nil {
			l = &tally{occurrences: make(map[sass.Word]int), differing: make(map[string]int), examples: make(map[string]string)}
			tallies[arch] = l
		}
		for _, w := range cubinWords(t, file) {
			l.occurrences[w]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	archs := make([]sass.Arch, 0, len(tallies))
	for a := range tallies {
		archs = append(archs, a)
	}
	slices.Sort(archs)
	for _, a := range archs {
		tallies[a].measure(t, a)
		tallies[a].print(t, a)
	}
}

// cubinArch returns the architecture in the ELF flags of a cubin.
func cubinArch(t *testing.T, file string) sass.Arch {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var header [52]byte
	if _, err := f.Read(header[:]); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return sass.Arch(binary.LittleEndian.Uint32(header[48:]) & 0xff)
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
	}
	back, err := sass.Parse(arch, pc, got, inst.Control)
	switch {
	case err != nil:
		l.differs("parse", n, w, err.Error(), got)
	case back.Word != w:
		l.differs("parsed word", n, w, fmt.Sprintf("%016x%016x", back.Word.Hi, back.Word.Lo), got)
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
