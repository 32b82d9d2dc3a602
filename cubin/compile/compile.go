// Package compile runs the compilers that make cubins and programs of CUDA C++ sources: nvcc, NVRTC of NVIDIA's Python package, clang, or a command.
package compile

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
)

// A Compiler is a command line that makes a cubin of a source.
type Compiler struct {
	words []string // with placeholders
	extra []string

	nvcc    string   // the nvcc that was found, "" for another compiler
	toolkit *toolkit // of the clang that was found, nil for another compiler
	library bool     // the NVRTC that was found
}

// placeholders of a compiler's command line.
const (
	inPlace    = "{in}"
	outPlace   = "{out}"
	archPlace  = "{arch}"
	flagsPlace = "{flags}"
)

// Parse reads a command line, split at white space outside quotes. {in}, {out} and {arch} (as sm_80) in it stand for what they say, and
// {flags} for the flags of a patch, which else come last. It runs without a shell in the folder of the copied source.
func Parse(command string) (*Compiler, error) {
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
	with := *c
	with.extra = append(slices.Clone(c.extra), extra...)
	return &with, nil
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
	if err := c.run(ctx, folder, c.words, in, OutName, out, arch, flags); err != nil {
		return nil, err
	}
	return read(in, out, arch)
}

// read reads what a compiler has made of a source.
func read(in, out string, arch sass.Arch) (*cubin.File, error) {
	data, err := os.ReadFile(out)
	if err != nil {
		return nil, err
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

// run runs a compiler's command line with its placeholders in a folder. What it makes has the name out there, and file here.
func (c *Compiler) run(ctx context.Context, folder string, words []string, in, out, file string, arch sass.Arch, flags []string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if c.toolkit != nil {
		if err := c.toolkit.laid(); err != nil {
			return fmt.Errorf("laying out a CUDA toolkit for clang: %w", err)
		}
	}
	words = filled(words, in, out, fmt.Sprintf("sm_%d", arch), c.spelled(slices.Concat(c.extra, flags)))
	var said Said
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Dir, command.Stdout, command.Stderr, command.WaitDelay = folder, &said, &said, compilerPatience
	OwnGroup(command)
	err := command.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return compileError{fmt.Errorf("%s: %s", exit, quotedError(said.String()))}
	case err != nil:
		return fmt.Errorf("the compiler cannot be run: %w", err)
	}
	if _, err := os.Stat(file); err != nil {
		return compileError{fmt.Errorf("the compiler has not written %s: %s", outPlace, quotedError(said.String()))}
	}
	return nil
}

// filled fills in the placeholders. A file is never taken for a flag.
func filled(words []string, in, out, arch string, flags []string) []string {
	if strings.HasPrefix(in, "-") || strings.HasPrefix(in, "@") {
		in = "./" + in
	}
	var list []string
	placed := false
	for _, w := range words {
		if w == flagsPlace {
			list = append(list, flags...)
			placed = true
			continue
		}
		list = append(list, strings.NewReplacer(inPlace, in, outPlace, out, archPlace, arch).Replace(w))
	}
	if !placed {
		list = append(list, flags...)
	}
	return list
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

// longestError bounds what of a compiler's message becomes part of an error, bytes.
const longestError = 400

// quotedError is the line of a compiler's or linker's messages that tells of an error, or else the first, quoted and clipped.
func quotedError(said string) string {
	first, found := "", false
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		for _, telling := range []string{"error", "undefined reference", "cannot find"} {
			found = found || strings.Contains(line, telling) && !strings.HasPrefix(line, "collect2:")
		}
		if found || first == "" {
			first = line
		}
		if found {
			break
		}
	}
	if first == "" {
		return "it says nothing"
	}
	return fmt.Sprintf("%q", strings.ToValidUTF8(first[:min(len(first), longestError)], ""))
}
