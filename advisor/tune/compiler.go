package tune

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/reports"
)

// A Compiler is a command line that makes a cubin of a source.
type Compiler struct {
	words []string // with placeholders
	extra []string
}

// placeholders of a compiler's command line.
const (
	inPlace    = "{in}"
	outPlace   = "{out}"
	archPlace  = "{arch}"
	flagsPlace = "{flags}"
)

// ErrNoCompiler is the error of a machine on which no nvcc is found.
var ErrNoCompiler = errors.New("no CUDA compiler at hand: put nvcc on PATH, set CUDA_HOME, install one (pip install nvidia-cuda-nvcc)")

// FindCompiler returns an nvcc that is at hand: on PATH, in the folders that CUDA_HOME and CUDA_PATH name, or in a Python environment. getenv is
// os.Getenv or another source of these names.
func FindCompiler(getenv func(string) string) (*Compiler, error) {
	nvcc := findNvcc(getenv)
	if nvcc == "" {
		return nil, ErrNoCompiler
	}
	return &Compiler{words: []string{nvcc, "-cubin", "-arch=" + archPlace, "-lineinfo", "-o", outPlace, inPlace}}, nil
}

// ParseCompiler reads a command line, split at white space outside quotes. {in}, {out} and {arch} (as sm_80) in it stand for what they say, and
// {flags} for the flags of a patch, which else come last. It runs without a shell in the folder of the copied source.
func ParseCompiler(command string) (*Compiler, error) {
	words, err := splitWords(command)
	if err != nil {
		return nil, err
	}
	for _, place := range []string{inPlace, outPlace} {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, place) }) {
			return nil, fmt.Errorf("%s is missing: it stands for the name of a file", place)
		}
	}
	return &Compiler{words: words}, nil
}

// With returns the compiler with further flags, separated by white space outside quotes. Folders of -I are relative to the working directory.
func (c *Compiler) With(flags string) (*Compiler, error) {
	extra, err := splitWords(flags)
	if err != nil {
		return nil, err
	}
	if extra, err = absoluteFolders(extra); err != nil {
		return nil, err
	}
	return &Compiler{c.words, append(slices.Clone(c.extra), extra...)}, nil
}

// splitWords splits a command line at white space outside single and double quotes.
func splitWords(line string) (words []string, err error) {
	var word strings.Builder
	var quote rune
	open := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, open = r, true
		case quote == 0 && strings.ContainsRune(" \t\r\n", r):
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("%c has no end", quote)
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// absoluteFolders makes the folders of flags that say where headers are independent of where the compiler runs.
func absoluteFolders(flags []string) ([]string, error) {
	flags = slices.Clone(flags)
	for i, f := range flags {
		switch folder, joined := strings.CutPrefix(f, "-I"); {
		case joined && folder != "":
			abs, err := filepath.Abs(folder)
			if err != nil {
				return nil, err
			}
			flags[i] = "-I" + abs
		case i > 0 && (flags[i-1] == "-I" || flags[i-1] == "-isystem"):
			abs, err := filepath.Abs(f)
			if err != nil {
				return nil, err
			}
			flags[i] = abs
		}
	}
	return flags, nil
}

// findNvcc looks for nvcc on PATH, in the folders of a toolkit, and in Python environments, where NVIDIA's packages put it below
// nvidia/*/bin. It returns "" where there is none.
func findNvcc(getenv func(string) string) string {
	if _, err := exec.LookPath("nvcc"); err == nil {
		return "nvcc"
	}
	var patterns []string
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := getenv(name); home != "" {
			patterns = append(patterns, filepath.Join(home, "bin", "nvcc"))
		}
	}
	environments := []string{getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX")}
	if python, err := exec.LookPath("python3"); err == nil {
		environments = append(environments, filepath.Dir(filepath.Dir(python)))
	}
	for _, prefix := range environments {
		if prefix != "" {
			patterns = append(patterns, filepath.Join(prefix, "lib", "python3*", "site-packages", "nvidia", "*", "bin", "nvcc"))
		}
	}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		for _, name := range found {
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				return name
			}
		}
	}
	return ""
}

// Words are the command's, with its placeholders.
func (c *Compiler) Words() []string { return slices.Clone(c.words) }

// String is the command with its placeholders.
func (c *Compiler) String() string {
	return strings.Join(append(slices.Clone(c.words), c.extra...), " ")
}

// A compileError is what the compiler said against a source.
type compileError struct{ error }

// Refused reports whether an error of Compile is what the compiler said against a source.
func Refused(err error) bool {
	var said compileError
	return errors.As(err, &said)
}

// OutName is the name of the cubin in the folder in which a compiler runs.
const OutName = "patched.cubin"

// compilerPatience is how long a compiler that was killed has to close its outputs.
const compilerPatience = 2 * time.Second

// Compile makes a cubin of a source file in a folder. [Refused] tells an error that the compiler had against the source from others. A compiler
// that still runs when ctx ends is killed with all that it has started.
func (c *Compiler) Compile(ctx context.Context, folder, in string, arch sass.Arch, flags []string) (*cubin.File, error) {
	out := filepath.Join(folder, OutName)
	if err := os.Remove(out); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	words := c.arguments(in, fmt.Sprintf("sm_%d", arch), append(slices.Clone(c.extra), flags...))
	var said Said
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Dir, command.Stdout, command.Stderr, command.WaitDelay = folder, &said, &said, compilerPatience
	OwnGroup(command)
	err := command.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return nil, compileError{fmt.Errorf("%s: %s", exit, quotedError(said.String()))}
	case err != nil:
		return nil, fmt.Errorf("the compiler cannot be run: %w", err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return nil, compileError{fmt.Errorf("the compiler has not written %s: %s", outPlace, quotedError(said.String()))}
	}
	label, code, err := cubin.Pick(in, data, arch)
	if err != nil {
		return nil, compileError{err}
	}
	module, err := cubin.NewFile(label, code)
	if err != nil {
		return nil, compileError{err}
	}
	return module, nil
}

// arguments fills in the placeholders. A file is never taken for a flag.
func (c *Compiler) arguments(in, arch string, flags []string) []string {
	if strings.HasPrefix(in, "-") || strings.HasPrefix(in, "@") {
		in = "./" + in
	}
	var words []string
	placed := false
	for _, w := range c.words {
		if w == flagsPlace {
			words = append(words, flags...)
			placed = true
			continue
		}
		words = append(words, strings.NewReplacer(inPlace, in, outPlace, OutName, archPlace, arch).Replace(w))
	}
	if !placed {
		words = append(words, flags...)
	}
	return words
}

// A Said is what a process says, of which it keeps the first 64 KiB and takes all.
type Said struct{ kept bytes.Buffer }

// Write keeps what there is room for.
func (s *Said) Write(p []byte) (int, error) {
	const most = 64 << 10
	s.kept.Write(p[:min(len(p), most-s.kept.Len())])
	return len(p), nil
}

// String is what was kept.
func (s *Said) String() string { return s.kept.String() }

// quotedError is the line of a compiler's messages that tells of an error, or else the first, quoted and clipped.
func quotedError(said string) string {
	first := ""
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "error") {
			first = line
			break
		}
		if first == "" {
			first = line
		}
	}
	if first == "" {
		return "it says nothing"
	}
	return fmt.Sprintf("%q", reports.Clipped(reports.OneLine(first)))
}
