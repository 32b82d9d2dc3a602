package compile

import (
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrNoCompiler is the error of a machine on which no compiler is found.
var ErrNoCompiler = errors.New("no CUDA compiler at hand: put nvcc on PATH, set CUDA_HOME, or install one (pip install nvidia-cuda-nvcc nvidia-cuda-runtime)")

// nvrtcScript compiles by NVRTC, which is a library: the Python beside it can load one.
//
//go:embed nvrtc.py
var nvrtcScript string

// Find returns a compiler that is at hand: nvcc on PATH, in the folders that CUDA_HOME and CUDA_PATH name, or in a Python environment; else NVRTC in
// a Python environment; else clang, with NVIDIA's Python packages for CUDA 12. getenv is os.Getenv or another source of these names.
func Find(getenv func(string) string) (*Compiler, error) {
	if nvcc := findNvcc(getenv); nvcc != "" {
		return &Compiler{words: []string{nvcc, "-cubin", "-arch=" + archPlace, "-lineinfo", "-o", outPlace, inPlace}, nvcc: nvcc}, nil
	}
	for _, prefix := range environments(getenv) {
		libraries := installed(filepath.Join(prefix, packages, "lib", "libnvrtc.so.*"))
		python := installed(filepath.Join(prefix, "bin", "python3"))
		if len(libraries) > 0 && len(python) > 0 {
			return &Compiler{words: []string{python[0], "-c", nvrtcScript, libraries[0], inPlace, outPlace, archPlace}, library: true}, nil
		}
	}
	if c := findClang(getenv); c != nil {
		return c, nil
	}
	return nil, ErrNoCompiler
}

// Named returns the compiler of a command line, as [Parse] has it, or [Find] where that is "", with further flags.
func Named(command, flags string, getenv func(string) string) (c *Compiler, err error) {
	if command == "" {
		c, err = Find(getenv)
	} else {
		c, err = Parse(command)
	}
	if err != nil {
		return nil, err
	}
	return c.With(flags)
}

// packages are the folders of NVIDIA's Python packages in an environment.
var packages = filepath.Join("lib", "python3*", "site-packages", "nvidia", "*")

// environments are the prefixes of the Python environments at hand.
func environments(getenv func(string) string) (list []string) {
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if prefix := getenv(name); prefix != "" {
			list = append(list, prefix)
		}
	}
	if python, err := exec.LookPath("python3"); err == nil {
		list = append(list, filepath.Dir(filepath.Dir(python)))
	}
	return list
}

// findNvcc looks for nvcc on PATH, in the folders of a toolkit, and in Python environments, where NVIDIA's packages put it below
// nvidia/*/bin. It returns "" where there is none.
func findNvcc(getenv func(string) string) string {
	if name, err := exec.LookPath("nvcc"); err == nil {
		return name
	}
	var patterns []string
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := getenv(name); home != "" {
			patterns = append(patterns, filepath.Join(home, "bin", "nvcc"))
		}
	}
	for _, prefix := range environments(getenv) {
		patterns = append(patterns, filepath.Join(prefix, packages, "bin", "nvcc"))
	}
	for _, pattern := range patterns {
		if found := installed(pattern); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// installed lists the files of a pattern.
func installed(pattern string) (list []string) {
	found, _ := filepath.Glob(pattern) // a folder that makes no pattern has none
	for _, name := range found {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			list = append(list, name)
		}
	}
	return list
}
