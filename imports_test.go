package gpa_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed is the import rule: which packages of the module a package may import directly. A package that is missing
// here has no rule and fails the test.
var allowed = map[string][]string{
	"cubin/sass":                 {},
	"cubin":                      {"cubin/sass"},
	"cubin/cubintest":            {"cubin/sass", "cubin"},
	"cubin/fatbintest":           {},
	"cubin/asm":                  {"cubin/sass", "cubin"},
	"cubin/cxx":                  {},
	"cubin/compile":              {"cubin/sass", "cubin", "cubin/cxx"},
	"cubin/cfg":                  {"cubin/sass", "cubin"},
	"cubin/branch":               {"cubin/sass", "cubin", "cubin/cfg"},
	"emu/arch":                   {"cubin/sass"},
	"emu/stall":                  {},
	"cubin/rewrite":              {"cubin/sass", "cubin", "cubin/cfg", "emu/arch"},
	"emu/mem":                    {"emu/arch"},
	"emu/reconv":                 {"cubin/sass", "cubin/cfg"},
	"emu":                        {"cubin/sass", "cubin", "cubin/cfg", "emu/arch", "emu/stall", "emu/mem", "emu/reconv", "emu/stream"},
	"emu/speed":                  {"."},
	"emu/stream":                 {"cubin/sass"},
	"emu/launch":                 {"emu", "cubin"},
	"emu/launch/skeleton":        {"cubin", "cubin/cxx"},
	"emu/capture":                {"emu/launch", "kernels", "reports/files"},
	"emu/activity":               {"emu", "cubin/branch"},
	"emu/check":                  {"emu"},
	"emu/record":                 {"emu", "profiler"},
	"emu/cuda/wire":              {},
	"emu/cuda/solib":             {},
	"emu/cuda/solib/solibtest":   {},
	"emu/cuda":                   {"emu", "cubin", "emu/arch", "emu/cuda/wire", "emu/cuda/solib"},
	"emu/convergence":            {"emu/activity", "emu/launch", "cubin/rewrite"},
	"emu/micro":                  {"emu", "cubin"},
	"profiler":                   {"cubin/sass", "cubin", "emu/arch", "emu/stall"},
	"profiler/ncurep":            {"profiler"},
	"profiler/ncurep/ncureptest": {"profiler"},
	"profiler/sampler":           {"profiler", "emu"},
	"profiler/store":             {},
	"advisor/tune/search":        {},
	"advisor/tune/queue":         {},
	"advisor/tune/sweep":         {"advisor/tune", "advisor/tune/queue", "advisor/tune/search"},
	"profiler/program":           {".", "emu/capture", "emu/cuda", "reports/terminal"},
	"blamer":                     {"profiler", "cubin/sass", "cubin", "cubin/cfg", "emu/arch", "emu/stall"},
	"blamer/sasstest":            {"profiler"},
	"advisor":                    {"blamer", "cubin/branch", "cubin/rewrite"},
	"advisor/patch":              {"advisor", "cubin/cxx"},
	"advisor/tune":               {".", "advisor/patch", "cubin/compile", "emu/check"},
	"advisor/evaluation":         {".", "profiler/ncurep"},
	"reports/gpus":               {"reports", "emu/micro"},
	"reports/listing":            {"reports", "cubin/asm", "cubin/cfg", "cubin/rewrite", "profiler/ncurep"},
	"reports/pprof":              {"."},
	"reports/reconvergence":      {"reports", "emu/convergence"},
	"reports":                    {"profiler", "blamer", "advisor", "cubin/sass", "cubin", "reports/files"},
	"reports/files":              {},
	"reports/terminal":           {"."},
	".":                          {"reports", "cubin/compile", "emu/launch", "emu/check", "emu/record", "profiler/sampler", "profiler/store", "kernels"},
	"cmd/gpa":                    {"all"},
	"kernels":                    {},
}

// restricted are the modules that only some places may import.
var restricted = map[string][]string{
	"github.com/olekukonko/tablewriter": {"reports"},
	"github.com/spf13/pflag":            {"cmd/gpa"},
	"github.com/goccy/go-yaml":          {"emu/launch", "advisor/tune/search"},
	"github.com/nats-io":                {"advisor/tune/queue"},
	"github.com/google/pprof/profile":   {"reports", "reports/pprof"},
	"github.com/google/pprof/driver":    {"reports/pprof"},
	"golang.org/x/sys":                  {"emu", "emu/speed", "emu/cuda/wire", "emu/cuda/solib/solibtest", "reports/terminal"}, // what a terminal is, and memory
}

// imports returns the imports of each package's non-test files, by folder.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	found := make(map[string][]string)
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || name != "." && strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder := path.Dir(filepath.ToSlash(name))
		if _, seen := found[folder]; !seen {
			found[folder] = nil
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			found[folder] = append(found[folder], imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// inModule returns the folder of an import path, "." for the module's root.
func inModule(imported string) (string, bool) {
	if imported == "gpa" {
		return ".", true
	}
	return strings.CutPrefix(imported, "gpa/")
}

// closure returns what may be imported through the rule's packages as well: "and what these import".
func closure(folder string) []string {
	list := slices.Clone(allowed[folder])
	for i := 0; i < len(list); i++ {
		for _, next := range allowed[list[i]] {
			if !slices.Contains(list, next) {
				list = append(list, next)
			}
		}
	}
	return list
}

func TestImportRule(t *testing.T) {
	for folder, list := range imports(t) {
		if _, ok := allowed[folder]; !ok {
			t.Errorf("package %s has no import rule", folder)
			continue
		}
		may := closure(folder)
		for _, imported := range list {
			if inner, ok := inModule(imported); ok && !slices.Contains(may, inner) && !slices.Contains(may, "all") {
				t.Errorf("%s must not import %s", folder, inner)
			}
			for module, only := range restricted {
				if strings.HasPrefix(imported, module) && !slices.Contains(only, folder) {
					t.Errorf("only %v may import %s, not %s", only, module, folder)
				}
			}
		}
	}
}

// The blamer, the advisor and the reports work on samples of a real GPU as well: they never reach the emulator.
func TestNoEmulatorBehindTheProfile(t *testing.T) {
	direct := imports(t)
	for _, folder := range []string{"blamer", "advisor", "reports", "profiler", "advisor/patch"} {
		seen := map[string]bool{folder: true}
		for queue := []string{folder}; len(queue) > 0; queue = queue[1:] {
			for _, imported := range direct[queue[0]] {
				inner, ok := inModule(imported)
				if inner == "emu" {
					t.Errorf("%s reaches emu through %s", folder, queue[0])
				}
				if ok && !seen[inner] {
					seen[inner] = true
					queue = append(queue, inner)
				}
			}
		}
	}
}

// The command is flags, what is printed and exit statuses: what is more than that many lines belongs into packages that Go programs can use.
func TestCommandSize(t *testing.T) {
	const most = 3500
	names, err := filepath.Glob("cmd/gpa/*.go")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	lines := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines += strings.Count(string(data), "\n")
	}
	if lines > most {
		t.Errorf("cmd/gpa has %d lines without tests, more than %d", lines, most)
	}
}
