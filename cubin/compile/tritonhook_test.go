//go:build unix

package compile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gpa/cubin"
)

// fakeTriton is as much of Triton as the hook touches, with the names of versions 3.0 to 3.9. Of what it "compiles" num_warps decides.
var fakeTriton = map[string]string{
	"triton/__init__.py": `
from . import compiler
from .compiler import compile
from .runtime.jit import JITFunction as jit
`,
	"triton/compiler/__init__.py": "from .compiler import compile\n",
	"triton/compiler/compiler.py": `
import collections, os
class Options:
    __dataclass_fields__ = {"num_warps": 0, "num_stages": 0}
class Backend:
    def parse_options(self, options): return Options()
def make_backend(target): return Backend()
class ASTSource:
    def __init__(self, fn, signature, constants=None, attrs=None):
        self.fn, self.signature, self.constants, self.attrs = fn, signature, constants, attrs
Metadata = collections.namedtuple("Metadata", "name target num_warps num_stages shared odd")
class Kernel:
    def __init__(self, src, target, num_warps=4, num_stages=3):
        self.src, self.metadata = src, Metadata("rows", target, num_warps, num_stages, sum(src.constants.values()), ["unhashable"])
        self.asm = {"cubin": open(os.environ["FIXTURES"] + ("/rows_8.cubin" if num_warps == 8 else "/rows.cubin"), "rb").read()}
def compile(src, target, options):
    with open(os.environ["SEEN"], "w") as f: f.write(str(os.getpid()))
    return Kernel(src, target, **options)
`,
	"triton/runtime/__init__.py": "",
	"triton/runtime/jit.py": `
import collections, inspect, textwrap
from ..compiler.compiler import ASTSource, Kernel
Param = collections.namedtuple("Param", "name is_constexpr")
class JITFunction:
    def __init__(self, fn):
        self.fn, self.signature = fn, inspect.signature(fn)
        self.arg_names = list(self.signature.parameters)
        self.params = [Param(n, p.annotation == "constexpr") for n, p in self.signature.parameters.items()]
        text = textwrap.dedent(inspect.getsource(fn))
        self.src, self.made = text[text.index("def "):], {}
    def run(self, *args, grid, warmup, **kwargs):
        bound = {**{p.name: p.default for p in self.signature.parameters.values()}, **dict(zip(self.arg_names, args)), **kwargs}
        constants = {(i,): bound[p.name] for i, p in enumerate(self.params) if p.is_constexpr}
        types = {p.name: "constexpr" if p.is_constexpr else "i32" if isinstance(bound[p.name], int) else "*fp32" for p in self.params}
        return self.made.setdefault(tuple(constants.items()), Kernel(ASTSource(self, types, constants, {}), "cuda"))
    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)
`,
	"program.py": `
import sys, triton
@triton.jit
def rows(x, out, m, n, BM: "constexpr", BN: "constexpr", BK: "constexpr" = 32):
    pid = tl.program_id(axis=0)
    column = tl.program_id(1)
    row = pid // 2
    i = row * BM + tl.arange(0, BM)
    j = column * BN
    for k in range(0, n, BK):
        pass
def grid(meta):
    assert meta["BN"] == 64
    return meta["m"] // meta["BM"], 2
rows[grid]("x", "out", 1000, 100, 128, BN=64, num_warps=4)
rows[(8, 2)]("x", "out", 1000, 100, BM=128, BN=64)
rows[(4, 25)]("x", "out", 4, 100, 1, 4, BK=1)
print("ended", flush=True)
sys.exit(3)
`,
}

// TestTritonHook runs a program whose kernels are compiled with other constants after it has ended.
func TestTritonHook(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	folder := t.TempDir()
	for name, text := range fakeTriton {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	customized := t.TempDir() // another sitecustomize keeps its place
	if err := os.WriteFile(filepath.Join(customized, "sitecustomize.py"), []byte("print('customized')\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := HookTriton()
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	seen := filepath.Join(folder, "seen")
	command := exec.Command(python, filepath.Join(folder, "program.py"))
	command.Env = h.Environment(append(os.Environ(), "PYTHONPATH="+customized+":"+folder, "FIXTURES="+filepath.Dir(fixture(t, "rows.cubin")), "SEEN="+seen))
	out, err := command.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || string(out) != "customized\nended\n" {
		t.Fatalf("the program: %v, %q", err, out)
	}
	h.Ended()
	module, err := cubin.Open(fixture(t, "rows.cubin"))
	if err != nil {
		t.Fatal(err)
	}
	type is = TritonAlternative
	one := func(name string, is, was int, grid ...int) TritonAlternative {
		return TritonAlternative{Constants: map[string]int{name: is}, Was: map[string]int{name: was}, Grid: [3]int{grid[0], grid[1], 1}}
	}
	both := func(bm, bn int, grid ...int) TritonAlternative {
		return TritonAlternative{Constants: map[string]int{"BM": bm, "BN": bn}, Was: map[string]int{"BM": 128, "BN": 64}, Grid: [3]int{grid[0], grid[1], 1}}
	}
	for _, c := range []struct {
		grid [3]int
		want []is
	}{
		{[3]int{7, 2, 1}, []is{one("BM", 256, 128, 3, 2), one("BM", 64, 128, 15, 2), one("BM", 512, 128, 1, 2), // by the program's own function
			one("BK", 64, 32, 7, 2), one("BK", 16, 32, 7, 2)}}, // and has none for other columns
		{[3]int{8, 2, 1}, []is{one("BM", 256, 128, 4, 2), one("BN", 128, 64, 8, 1), both(256, 128, 4, 1), // by what the kernel multiplies
			one("BM", 64, 128, 16, 2), one("BN", 32, 64, 8, 4), both(64, 32, 16, 4), one("BM", 512, 128, 2, 2), one("BN", 256, 64, 8, 1), one("BK", 64, 32, 8, 2), one("BK", 16, 32, 8, 2)}},
		{[3]int{4, 25, 1}, nil}, // no block that could be smaller or larger by these rules
	} {
		l := h.Find(module, "rows", c.grid)
		if l == nil {
			t.Fatalf("a grid of %v is not known", c.grid)
		}
		if !reflect.DeepEqual(l.Types, []string{"*fp32", "*fp32", "i32", "i32"}) || len(l.Alternatives)+len(c.want) > 0 && !sameAlternatives(l.Alternatives, c.want) {
			t.Errorf("grid %v: %v, alternatives\n%v, want\n%v", c.grid, l.Types, l.Alternatives, c.want)
		}
	}
	if h.Find(module, "rows", [3]int{9, 2, 1}) != nil || h.Find(module, "columns", [3]int{8, 2, 1}) != nil {
		t.Error("a launch is known that was not made")
	}
	triton := (*Triton)(nil).With(h)
	builds, err := triton.Again(t.Context(), module, "rows", [3]int{8, 2, 1}, []TritonOptions{{Warps: 8}, {Stages: 4}, {Constants: "BM=64, BN=32", Grid: [3]int{16, 4, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []TritonBuild{{Warps: 8, Shared: 224}, {Warps: 4, Shared: 224, Same: true}, {Warps: 4, Shared: 128}} {
		b := builds[i]
		if b.Err != nil || b.Module == nil || b.Warps != want.Warps || b.Shared != want.Shared || b.Same != want.Same {
			t.Errorf("%d: %+v, want %+v", i, b, want)
		}
	}
	text, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil || pid == command.Process.Pid {
		t.Fatalf("compiled by process %q: %v", text, err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	for begin := time.Now(); syscall.Kill(pid, 0) == nil && !zombie(pid); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatal("what has stayed behind goes on after it was let go")
		}
	}
	if _, err := os.Stat(h.folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is still there: %v", err)
	}
}

// zombie reports whether a process has ended and nobody has asked how.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	return err == nil && strings.HasPrefix(rest, "Z")
}

// sameAlternatives compares lists of alternatives.
func sameAlternatives(a, b []TritonAlternative) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

// TestTritonHookFaults holds what comes of processes that say nothing, something else, or end.
func TestTritonHookFaults(t *testing.T) {
	h, err := HookTriton()
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	module, err := cubin.Open(fixture(t, "rows.cubin"))
	if err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"", "{}\n", "nonsense\n", fmt.Sprintf(`[{"kernel": "rows", "image": "%x", "grid": [1, 1, 1]}]`+"\n", sha256.Sum256(module.Raw))} {
		conn, err := net.Dial("unix", filepath.Join(h.folder, "socket"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, says)
		conn.Close()
	}
	h.Ended()
	if len(h.stayed) != 1 {
		t.Errorf("%d processes are taken for ones that compile", len(h.stayed))
	}
	if _, err := (&Triton{Hook: h}).Again(t.Context(), module, "rows", [3]int{1, 1, 1}, nil); err == nil || !strings.Contains(err.Error(), "has not answered") {
		t.Errorf("a process that has ended: %v", err)
	}
	if _, err := (&Triton{Hook: h}).Again(t.Context(), module, "rows", [3]int{2, 1, 1}, nil); !errors.Is(err, ErrNotCached) {
		t.Errorf("a launch that nobody has made, without a cache: %v", err)
	}
}
