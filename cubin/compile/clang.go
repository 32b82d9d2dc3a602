package compile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// spelled are flags of nvcc's as the compiler has them.
func (c *Compiler) spelled(flags []string) []string {
	if c.toolkit == nil {
		return flags
	}
	list := slices.Clone(flags)
	for i, f := range list {
		if f == "-use_fast_math" || f == "--use_fast_math" {
			list[i] = "-ffast-math"
		}
	}
	return list
}

// A toolkit is what clang needs besides itself to compile CUDA C++: ptxas, libdevice and headers, from folders of NVIDIA's Python packages for
// CUDA 12, one a package. clang looks for all of them below one folder (--cuda-path), which is made of links.
type toolkit struct {
	packages []string     // their folders
	folder   string       // where the links are
	laid     func() error // makes the folder, once
}

// The versions of clang whose programs have a number in their name, as distributions have them.
const (
	newestClang = 29
	oldestClang = 14 // of Debian 12 and Ubuntu 22.04
)

// clangWords is clang's command line for a cubin. clang warns of toolkits that are newer than itself, which it takes for the newest that it knows.
func clangWords(program, folder string) []string {
	return []string{program, "-x", "cuda", "--cuda-path=" + folder, "--cuda-gpu-arch=" + archPlace, "-Wno-unknown-cuda-version", "-O3", "-gline-tables-only",
		"--cuda-device-only", "-c", "-o", outPlace, inPlace}
}

// findClang returns clang, where it and the packages that it needs are at hand, or nil.
func findClang(getenv func(string) string) *Compiler {
	program, err := exec.LookPath("clang++")
	for version := newestClang; err != nil && version >= oldestClang; version-- {
		program, err = exec.LookPath(fmt.Sprintf("clang++-%d", version))
	}
	if err != nil {
		return nil
	}
	for _, prefix := range environments(getenv) {
		for _, ptxas := range installed(filepath.Join(prefix, packages, "bin", "ptxas")) {
			nvcc := filepath.Dir(filepath.Dir(ptxas))
			runtime := filepath.Join(filepath.Dir(nvcc), "cuda_runtime")
			if len(installed(filepath.Join(nvcc, "nvvm", "libdevice", "*.bc"))) == 0 || len(installed(filepath.Join(runtime, "include", "cuda_runtime.h"))) == 0 {
				continue
			}
			t := &toolkit{packages: []string{nvcc, runtime}}
			for _, more := range []string{"cuda_cccl", "curand"} {
				if folder := filepath.Join(filepath.Dir(nvcc), more); exists(folder) {
					t.packages = append(t.packages, folder)
				}
			}
			sum := sha256.Sum256(fmt.Append(nil, t.packages))
			t.folder = filepath.Join(caches(), "toolkit-"+hex.EncodeToString(sum[:8]))
			t.laid = sync.OnceValue(t.lay)
			return &Compiler{words: clangWords(program, t.folder), toolkit: t}
		}
	}
	return nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// mtgp32 is a header of cuRAND that clang's own headers include in each CUDA source, whether cuRAND is there or not.
const mtgp32 = "curand_mtgp32_kernel.h"

// lay makes the toolkit's folder, or what of it is not there yet.
func (t *toolkit) lay() error {
	for _, p := range t.packages {
		if err := link(p, t.folder); err != nil {
			return err
		}
	}
	header := filepath.Join(t.folder, "include", mtgp32)
	if !exists(header) {
		if err := os.WriteFile(header, nil, 0o600); err != nil {
			return err
		}
	}
	lib := filepath.Join(t.folder, "lib")
	_, err := unversioned(lib, lib)
	return err
}

// unversioned links libcudart.so in a folder to the library that another one has under its version's name alone, if it has.
func unversioned(lib, folder string) (found bool, err error) {
	list := installed(filepath.Join(lib, "libcudart.so.*"))
	if len(list) == 0 {
		return false, nil
	}
	return true, linked(list[0], filepath.Join(folder, "libcudart.so"))
}

// link links all files below a folder to the same places below another one.
func link(from, to string) error {
	return filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		switch {
		case err != nil:
			return err
		case entry.Name() == "__pycache__":
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		return linked(name, filepath.Join(to, rel))
	})
}

// linked makes a link, unless there is one.
func linked(to, name string) error {
	if err := os.Symlink(to, name); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// programWord is in the key of a program that clang makes, in whose command line for the kernels nothing says so.
const programWord = "program"

// program makes a program of a source: the kernels first, whose cubin goes into a fatbin that the host's part then holds. clang would call
// fatbinary for that, which the packages for CUDA 12 do not have.
func (c *Compiler) program(ctx context.Context, work, source, out, read string, arch sass.Arch) error {
	const device, bundle = "device.cubin", "device.fatbin"
	folder, in := filepath.Dir(source), filepath.Base(source)
	image := filepath.Join(work, device)
	if err := c.run(ctx, folder, c.words, in, image, image, arch, []string{"-MD", "-MF", read}); err != nil {
		return err
	}
	code, err := os.ReadFile(image)
	if err != nil {
		return err
	}
	fatbin := filepath.Join(work, bundle)
	if err := os.WriteFile(fatbin, cubin.Fatbin(code, arch), 0o600); err != nil {
		return err
	}
	words := slices.DeleteFunc(slices.Clone(c.words), func(w string) bool { return w == "--cuda-device-only" || w == "-c" })
	words = append(words, "--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", fatbin,
		flagsPlace, "-L"+filepath.Join(c.toolkit.folder, "lib"), "-lcudart")
	return c.run(ctx, folder, words, in, out, out, arch, nil)
}
