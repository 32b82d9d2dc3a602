package compile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gpa/cubin"
	"gpa/cubin/cxx"
	"gpa/cubin/sass"
)

// IsSource reports whether a file's name is that of a CUDA source that is compiled by itself.
func IsSource(name string) bool { return filepath.Ext(name) == ".cu" }

// IsProgram reports whether a source has a function main: it makes a program, not only kernels.
func IsProgram(text []byte) bool {
	s := cxx.NewSource(text)
	for i := range s.Tokens {
		if s.At(i) == "main" && s.At(i+1) == "(" && s.Match(i+1) > 0 && (s.At(i-1) == "int" || s.At(i-1) == "auto") {
			return true
		}
	}
	return false
}

// A Builder compiles whole sources where they lie, and keeps what came out until one of the files that it came from changes.
type Builder struct {
	Find    func() (*Compiler, error) // nil for one that is at hand
	Folder  string                    // where what came out is kept, "" for the user's folder for caches
	Sources []string                  // what the last build was made of: the source, and what of its headers lies below its folder
}

// Cubin makes a cubin of a source.
func (b *Builder) Cubin(ctx context.Context, source string, arch sass.Arch) (*cubin.File, error) {
	c, err := b.compiler()
	if err != nil {
		return nil, err
	}
	file, err := b.build(c, source, arch, c.words, func(_, source, out, read string) error {
		return c.run(ctx, filepath.Dir(source), c.words, filepath.Base(source), out, out, arch, c.dependencyFlags(read))
	})
	if err != nil {
		return nil, err
	}
	return read(source, file, arch)
}

// Program makes a program of a source, with the CUDA runtime as a shared library, and returns its file. nvcc can, or clang where there is none.
func (b *Builder) Program(ctx context.Context, source string, arch sass.Arch) (string, error) {
	c, err := b.compiler()
	if err != nil {
		return "", err
	}
	if c.library {
		if clang := findClang(os.Getenv); clang != nil {
			clang.extra = c.extra
			c = clang
		}
	}
	if c.toolkit != nil {
		return b.build(c, source, arch, append(slices.Clone(c.words), programWord), func(work, source, out, read string) error {
			return c.program(ctx, work, source, out, read, arch)
		})
	}
	if c.nvcc == "" {
		return "", fmt.Errorf("%s has a function main: a program needs nvcc, or clang with NVIDIA's Python packages for CUDA 12; --grid, --block and --arg describe the launch of a kernel alone", source)
	}
	words := []string{c.nvcc, "-cudart", "shared", "-arch=" + archPlace, "-lineinfo", "-o", outPlace, inPlace}
	return b.build(c, source, arch, words, func(work, source, out, read string) error {
		flags := c.dependencyFlags(read)
		if linkable(c.nvcc, work) {
			flags = append(flags, "-L"+work)
		}
		return c.run(ctx, filepath.Dir(source), words, filepath.Base(source), out, out, arch, flags)
	})
}

// dependencyFlags make a compiler that can write down the files that it reads.
func (c *Compiler) dependencyFlags(read string) []string {
	if c.nvcc == "" && c.toolkit == nil {
		return nil
	}
	return []string{"-MD", "-MF", read}
}

func (b *Builder) compiler() (*Compiler, error) {
	if b.Find != nil {
		return b.Find()
	}
	return Find(os.Getenv)
}

// linkable puts libcudart.so into a folder where nvcc's own folders have it only under its version's name, as in NVIDIA's Python packages.
func linkable(nvcc, folder string) bool {
	root := filepath.Dir(filepath.Dir(nvcc))
	for _, lib := range []string{"lib64", "lib"} {
		if len(installed(filepath.Join(root, lib, "libcudart.so"))) > 0 {
			return false
		}
	}
	found, err := unversioned(filepath.Join(root, "lib"), folder)
	return found && err == nil
}

// A made is the record of a build: what was read, and what came out, by their hashes.
type made struct {
	Output string
	From   map[string]string
}

// build compiles a source, unless what the same command line made before still holds, and returns the file. compile gets a folder for what it
// makes on the way, the source's absolute name, and the names of what it makes and of the file for the names of those that it reads.
func (b *Builder) build(c *Compiler, source string, arch sass.Arch, words []string, compile func(work, source, out, read string) error) (string, error) {
	source, err := filepath.Abs(source)
	if err != nil {
		return "", err
	}
	folder, err := b.folder()
	if err != nil {
		return "", err
	}
	name := filepath.Join(folder, c.key(source, arch, words))
	if from := kept(name); from != nil {
		b.Sources = ownSources(source, from)
		return name, nil
	}
	work, err := os.MkdirTemp(folder, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	out, read := filepath.Join(work, "out"), filepath.Join(work, "read")
	if err := compile(work, source, out, read); err != nil {
		b.Sources = included(source, nil) // the compiler may not have come to tell
		return "", fmt.Errorf("%s: %w", source, err)
	}
	m := made{From: make(map[string]string)}
	for _, file := range dependencies(source, read) {
		if m.From[file], err = hashOf(file); err != nil {
			return "", err
		}
	}
	if m.Output, err = hashOf(out); err != nil {
		return "", err
	}
	record, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.Rename(out, name), os.WriteFile(name+recordEnd, record, 0o600)); err != nil {
		return "", err
	}
	prune(folder, name)
	b.Sources = ownSources(source, m.From)
	return name, nil
}

// recordEnd is the end of the name of a record.
const recordEnd = ".json"

// folder makes the folder in which builds are kept.
func (b *Builder) folder() (string, error) {
	folder := b.Folder
	if folder == "" {
		folder = filepath.Join(caches(), "compiled")
	}
	return folder, os.MkdirAll(folder, 0o700)
}

// caches is the folder for what is kept from one run to the next.
func caches() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		folder = os.TempDir()
	}
	return filepath.Join(folder, "gpa")
}

// key is the name of a build: by the source's place and all that decides what the compiler makes of it besides the files that it reads.
func (c *Compiler) key(source string, arch sass.Arch, words []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %d", source, words, c.extra, arch)
	if path, err := filepath.EvalSymlinks(words[0]); err == nil {
		if info, err := os.Stat(path); err == nil { // another version of the compiler under the same name
			fmt.Fprint(h, path, info.Size(), info.ModTime().UnixNano())
		}
	}
	stem := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
	return stem + "-" + hex.EncodeToString(h.Sum(nil)[:12])
}

// kept returns what a kept build was made of, nil where there is none or a file has changed.
func kept(name string) map[string]string {
	record, err := os.ReadFile(name + recordEnd)
	var m made
	if err != nil || json.Unmarshal(record, &m) != nil || len(m.From) == 0 {
		return nil
	}
	if sum, err := hashOf(name); err != nil || sum != m.Output {
		return nil
	}
	for file, want := range m.From {
		if sum, err := hashOf(file); err != nil || sum != want {
			return nil
		}
	}
	return m.From
}

func hashOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// dependencies lists the files that a source was compiled from, by their absolute names: as the compiler wrote them down, else the source and what it
// includes in quotes.
func dependencies(source, written string) (list []string) {
	data, err := os.ReadFile(written)
	if err != nil {
		return included(source, nil)
	}
	// A rule of make: a space in a name has a backslash before it.
	const space = "\x00"
	_, names, _ := strings.Cut(strings.NewReplacer("\\\n", " ", "\\ ", space).Replace(string(data)), ": ")
	for name := range strings.FieldsSeq(names) {
		name = strings.ReplaceAll(name, space, " ")
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(source), name)
		}
		list = append(list, filepath.Clean(name))
	}
	return append(list, source)
}

// included lists a source and the files beside it that it includes in quotes, and those that they include.
func included(source string, before []string) []string {
	data, err := os.ReadFile(source)
	if err != nil || slices.Contains(before, source) {
		return before
	}
	list := append(before, source)
	for _, t := range cxx.NewSource(data).Tokens {
		if t.Kind != cxx.Directive {
			continue
		}
		directive := strings.TrimSpace(strings.TrimPrefix(string(data[t.Start:t.End]), "#"))
		if name, ok := strings.CutPrefix(directive, "include"); ok {
			if _, name, ok = strings.Cut(name, `"`); ok {
				name, _, _ = strings.Cut(name, `"`)
				list = included(filepath.Join(filepath.Dir(source), name), list)
			}
		}
	}
	return list
}

// ownSources lists the source, and of what else it was made of that which lies below its folder: what its author changes.
func ownSources(source string, from map[string]string) []string {
	list := []string{source}
	for file := range from {
		if rel, err := filepath.Rel(filepath.Dir(source), file); err == nil && file != source && filepath.IsLocal(rel) {
			list = append(list, file)
		}
	}
	slices.Sort(list[1:])
	return list
}

// mostKept is how many builds are kept.
const mostKept = 64

// prune removes the builds that were made first where there are too many, but never the one of a name.
func prune(folder, name string) {
	records, _ := filepath.Glob(filepath.Join(folder, "*"+recordEnd)) // what is not removed now is the next time
	age := make(map[string]int64)
	for _, r := range records {
		if info, err := os.Stat(r); err == nil {
			age[r] = info.ModTime().UnixNano()
		}
	}
	slices.SortFunc(records, func(a, b string) int { return cmp.Compare(age[b], age[a]) })
	for _, r := range records[min(len(records), mostKept):] {
		if r != name+recordEnd {
			os.Remove(strings.TrimSuffix(r, recordEnd))
			os.Remove(r)
		}
	}
}
