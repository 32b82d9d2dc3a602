package compile

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gpa/cubin"
)

// tritonScript compiles kernels again by the Triton of the Python that runs it, behind the text of siteCustomize.
//
//go:embed triton.py
var tritonScript string

// A Triton compiles kernels of Triton's again with other values of what is given at the launch and not in the source: num_warps, num_stages, maxnreg.
// Its cache keeps the intermediate representation of each kernel (NAME.ttir) from before any of them counts, so that neither the
// program nor its tensors are needed. Constants of the kernel (tl.constexpr) are gone from it: other values need what stays behind of the program.
type Triton struct {
	Python string      // an interpreter that has Triton
	Cache  string      // the folder of its cache, "" for none
	Hook   *TritonHook // what has stayed behind of the program, nil for nothing
}

// FindTriton returns the Triton of a program's interpreter, or else of a Python environment; nil where there is no cache. getenv is os.Getenv or
// another source of these names.
func FindTriton(program string, getenv func(string) string) *Triton {
	t := &Triton{Cache: getenv("TRITON_CACHE_DIR")}
	home := getenv("TRITON_HOME")
	if home == "" {
		home = getenv("HOME")
	}
	if t.Cache == "" {
		t.Cache = filepath.Join(home, ".triton", "cache")
	}
	if info, err := os.Stat(t.Cache); err != nil || !info.IsDir() {
		return nil
	}
	if strings.HasPrefix(filepath.Base(program), "python") {
		t.Python, _ = exec.LookPath(program)
	}
	for _, prefix := range environments(getenv) {
		if found := installed(filepath.Join(prefix, "bin", "python3")); t.Python == "" && len(found) > 0 {
			t.Python = found[0]
		}
	}
	if t.Python == "" {
		return nil
	}
	return t
}

// With adds what has stayed behind of a program; t may be nil.
func (t *Triton) With(h *TritonHook) *Triton {
	with := Triton{}
	if t != nil {
		with = *t
	}
	with.Hook = h
	return &with
}

// TritonOptions are options of a compilation; what is 0 is as it was. They can be compared.
type TritonOptions struct {
	Warps     int    `json:"num_warps,omitempty"`
	Stages    int    `json:"num_stages,omitempty"`
	Registers int    `json:"maxnreg,omitempty"`
	Constants string `json:"constants,omitempty"` // NAME=VALUE, separated by ", "; only what has stayed behind of a program can change them
	Grid      [3]int `json:"-"`                   // with which it is launched then
}

// A TritonBuild is a kernel that was compiled again.
type TritonBuild struct {
	Module *cubin.File
	Warps  int   // of a block
	Shared int   // dynamic shared memory, bytes a block
	Same   bool  // code and launch are those of the kernel that was given
	Err    error // why there is none
}

// ErrNotCached is the error of a kernel that the cache does not have, or of which this Triton makes another one.
var ErrNotCached = errors.New("the cache of Triton does not have this kernel, or this Triton makes another one of it")

// tritonPatience is how long compiling a kernel with all its options may take. Ten of them take seconds.
const tritonPatience = 2 * time.Minute

// Again compiles the kernel of a module that was launched with a grid with each of some options.
func (t *Triton) Again(ctx context.Context, module *cubin.File, kernel string, grid [3]int, list []TritonOptions) ([]TritonBuild, error) {
	folder, err := os.MkdirTemp("", "gpa-triton-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	all := append([]TritonOptions{{}}, list...) // the first one is to be what it was
	if l := t.Hook.Find(module, kernel, grid); l != nil {
		err = l.compile(ctx, folder, all)
	} else {
		err = t.cached(ctx, folder, module, kernel, all)
	}
	if err != nil {
		return nil, err
	}
	builds := make([]TritonBuild, len(all))
	for i := range builds {
		builds[i] = readBuild(filepath.Join(folder, strconv.Itoa(i)))
	}
	was := builds[0]
	if was.Err != nil {
		return nil, fmt.Errorf("compiling %s again as it was: %w", kernel, was.Err)
	}
	if !sameCode(was.Module, module) {
		return nil, ErrNotCached
	}
	for i := range builds {
		b := &builds[i]
		b.Same = b.Err == nil && b.Warps == was.Warps && b.Shared == was.Shared && all[i].Grid == [3]int{} && sameCode(b.Module, module)
	}
	return builds[1:], nil
}

// cached compiles a kernel that the cache has.
func (t *Triton) cached(ctx context.Context, folder string, module *cubin.File, kernel string, all []TritonOptions) error {
	entry, err := t.entry(module, kernel)
	if err != nil {
		return err
	}
	spec, err := json.Marshal(map[string]any{
		"ttir": entry + ".ttir", "metadata": entry + ".json", "arch": int(module.Arch), "options": all, "out": folder,
	})
	if err != nil {
		return err
	}
	var said Said
	limited, cancel := context.WithTimeout(ctx, tritonPatience)
	defer cancel()
	command := exec.CommandContext(limited, t.Python, "-c", string(siteCustomize)+tritonScript)
	command.Dir, command.Stdin, command.Stdout, command.Stderr, command.WaitDelay = folder, bytes.NewReader(spec), &said, &said, compilerPatience
	command.Env = append(os.Environ(), "TRITON_CACHE_DIR="+filepath.Join(folder, "cache"))
	OwnGroup(command)
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if limited.Err() != nil {
			return fmt.Errorf("compiling %s again took longer than %s", kernel, tritonPatience)
		}
		return fmt.Errorf("compiling %s again: %w: %s", kernel, err, quotedError(said.String()))
	}
	return nil
}

// entry is the path without extension of what the cache has of a kernel.
func (t *Triton) entry(module *cubin.File, kernel string) (string, error) {
	if filepath.Base(kernel) != kernel || t.Cache == "" || t.Python == "" {
		return "", ErrNotCached
	}
	for _, name := range installed(filepath.Join(t.Cache, "*", kernel+".cubin")) {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		found, err := cubin.NewFile(name, data)
		if err == nil && found.Arch == module.Arch && sameCode(found, module) {
			return strings.TrimSuffix(name, ".cubin"), nil
		}
	}
	return "", ErrNotCached
}

// sameCode reports whether two modules have the same machine code.
func sameCode(a, b *cubin.File) bool {
	if len(a.Codes) != len(b.Codes) {
		return false
	}
	for i, c := range a.Codes {
		if d := b.Codes[i]; c.Name != d.Name || !bytes.Equal(a.SectionData(c.Section), b.SectionData(d.Section)) {
			return false
		}
	}
	return true
}

// readBuild reads what the script has written.
func readBuild(name string) (b TritonBuild) {
	var said struct {
		Warps, Shared, Scratch int
		Error                  string
	}
	text, err := os.ReadFile(name + ".json")
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	switch {
	case err != nil:
		return TritonBuild{Err: err}
	case said.Error != "":
		return TritonBuild{Err: errors.New(quotedError(said.Error))}
	case said.Scratch != 0:
		return TritonBuild{Err: errors.New("it takes memory besides its arguments")}
	}
	data, err := os.ReadFile(name + ".cubin")
	if err != nil {
		return TritonBuild{Err: err}
	}
	b.Module, b.Err = cubin.NewFile(name+".cubin", data)
	b.Warps, b.Shared = said.Warps, said.Shared
	return b
}
