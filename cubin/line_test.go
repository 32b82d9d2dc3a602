package cubin

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestInlineStacks holds the lines of each instruction, inlined calls included, against what nvdisasm -gi printed for
// the same files (-update runs it; NVDISASM names it).
func TestInlineStacks(t *testing.T) {
	for _, name := range []string{"inline.cubin", "module.cubin", "flow.cubin", "linked.cubin"} {
		t.Run(name, func(t *testing.T) {
			goldenPath := filepath.Join("testdata", name+".lines")
			if *update {
				if err := os.WriteFile(goldenPath, []byte(nvdisasmLines(t, filepath.Join("testdata", name))), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(goldenPath)
			if err != nil {
				t.Fatal(err)
			}
			compareLines(t, open(t, name), string(want))
		})
	}
}

// TestInstalledNvdisasmLines does the same for every cubin there is, where nvdisasm is installed.
func TestInstalledNvdisasmLines(t *testing.T) {
	if os.Getenv("NVDISASM") == "" {
		t.Skip("NVDISASM is not set")
	}
	paths, err := filepath.Glob("../kernels/*/*/*.cubin.gz")
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("CUBINS"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "*.cubin"))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, more...)
	}
	for _, p := range paths {
		t.Run(p, func(t *testing.T) {
			f, err := Open(p)
			if err != nil {
				t.Fatal(err)
			}
			compareLines(t, f, nvdisasmLines(t, p))
		})
	}
}

// compareLines looks up each instruction that nvdisasm lists.
func compareLines(t *testing.T, f *File, want string) {
	t.Helper()
	codes := make(map[string]*Code)
	for _, c := range f.Codes {
		codes[c.Name] = c
	}
	for line := range strings.Lines(want) {
		line = strings.TrimSuffix(line, "\n")
		section, rest, _ := strings.Cut(line, " ")
		pcText, stack, _ := strings.Cut(rest, " ")
		pc, err := strconv.ParseUint(pcText, 16, 64)
		code := codes[section]
		if err != nil || code == nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if code.FunctionAt(pc).Kind == InternalFunction {
			continue // nvdisasm goes on with the line of the function before
		}
		if got := stackText(code.Frames(pc)); got != stack {
			t.Fatalf("%s+%04x: lines %s, want %s", section, pc, got, stack)
		}
	}
}

func stackText(frames []Frame) string {
	var list []string
	for _, f := range frames {
		if f.Line != 0 {
			list = append(list, fmt.Sprintf("%s:%d", f.File, f.Line))
		}
	}
	return strings.Join(list, " ")
}

var (
	giSection = regexp.MustCompile(`^\s*\.section\s+\.text\.([^,]*),`)
	giLine    = regexp.MustCompile(`^\s*//## File "(.*?)", line (\d+)( inlined at "(.*?)", line (\d+))?`)
	giInst    = regexp.MustCompile(`^\s*/\*([0-9a-f]{4,})\*/`)
)

// nvdisasmLines runs nvdisasm -gi and lists the instructions that have lines: section, pc, then file:line of each level
// of the inline stack, innermost first.
func nvdisasmLines(t *testing.T, file string) string {
	t.Helper()
	tool := os.Getenv("NVDISASM")
	if tool == "" {
		t.Fatal("needs NVDISASM")
	}
	data, err := ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain.cubin")
	if err := os.WriteFile(plain, data, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(tool, "-gi", "-c", plain).Output()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	section, stack, fresh := "", []string(nil), true
	for line := range strings.Lines(string(text)) {
		if m := giSection.FindStringSubmatch(line); m != nil {
			section, stack = m[1], nil
		} else if m := giLine.FindStringSubmatch(line); m != nil {
			if fresh {
				stack, fresh = nil, false
			}
			stack = append(stack, path.Clean(m[1])+":"+m[2])
		} else if m := giInst.FindStringSubmatch(line); m != nil {
			fresh = true
			if len(stack) > 0 {
				fmt.Fprintf(&out, "%s %s %s\n", section, m[1], strings.Join(stack, " "))
			}
		}
	}
	return out.String()
}

func TestFramesNameFunctions(t *testing.T) {
	f := open(t, "inline.cubin")
	k, err := f.Kernel("chain")
	if err != nil {
		t.Fatal(err)
	}
	want := []Frame{
		{Function: "leaf", Symbol: "_Z4leaff", File: "inline.cu", Line: 4},
		{Function: "mid<3>", Symbol: "_Z3midILi3EEff", File: "inline.cu", Line: 11},
		{Function: "chain", Symbol: "chain", File: "inline.cu", Line: 21},
	}
	got := k.Code.Frames(0xe0)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("frames %v, want %v", got, want)
	}
	if line := k.Code.Line(0xe0); line != want[0] {
		t.Errorf("line %v, want %v", line, want[0])
	}
}

func TestFramesWithoutLines(t *testing.T) {
	code := open(t, "inline.cubin").Codes[0]
	code.lines = lineTable{}
	frames := code.Frames(0)
	if len(frames) != 1 || frames[0].Function != code.Functions[0].Demangled || frames[0].Line != 0 {
		t.Errorf("frames %v", frames)
	}
	if frames := code.Frames(code.Size()); frames != nil {
		t.Errorf("frames behind the section: %v", frames)
	}
}

// TestHelpersHaveNoLines makes sure that a helper of the compiler's does not pass for the function before it.
func TestHelpersHaveNoLines(t *testing.T) {
	k, err := open(t, "module.cubin").Kernel("slow")
	if err != nil {
		t.Fatal(err)
	}
	frames := k.Code.Frames(0x660)
	if len(frames) != 1 || frames[0].Function != "__cuda_sm3x_div_rn_noftz_f32_slowpath" || frames[0].Line != 0 {
		t.Errorf("frames %v", frames)
	}
}
