package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/reports/listing"
)

// TestCFG looks at the graph of a kernel with functions, in all forms.
func TestCFG(t *testing.T) {
	const cubin = "../../cubin/testdata/module.cubin"
	out := func(args ...string) string {
		t.Helper()
		stdout, stderr, status := invoke(t, append([]string{"cfg", cubin}, args...)...)
		if status != exitDone || stderr != "" {
			t.Fatalf("%v: status %d, %s", args, status, stderr)
		}
		return stdout
	}
	var object listing.GraphReport
	if err := json.Unmarshal([]byte(out("--json")), &object); err != nil {
		t.Fatal(err)
	}
	visibility := make(map[string]string)
	for _, f := range object.Functions {
		visibility[f.Symbol] = f.Visibility
		for i, b := range f.Blocks {
			if b.ID != i || b.First > b.Last || len(b.Successors) == 0 && !b.Exits {
				t.Errorf("%s: block %+v", f.Name, b)
			}
		}
	}
	for symbol, want := range map[string]string{
		"calls": "kernel", "$calls$_Z9ackermannii": "device function", "$__internal_0_$__cuda_sm20_sqrt_rn_f32_slowpath": "compiler helper",
	} {
		if visibility[symbol] != want {
			t.Errorf("%s is a %s, want %s", symbol, visibility[symbol], want)
		}
	}
	text := out("--function", "ackermann")
	for _, want := range []string{"ackermann: device function", "call at 0x", "$calls$_Z9ackermannii", "module.cu:"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	dot := out("--dot")
	if strings.Count(dot, "{") != strings.Count(dot, "}") || strings.Count(dot, "subgraph cluster_") < len(object.Functions) || !strings.Contains(dot, "style=dashed") {
		t.Errorf("graph\n%s", dot)
	}
}

// Figure 1 of Thread Frontiers: what --frontiers says of it.
func TestCFGFrontiers(t *testing.T) {
	stdout, stderr, status := invoke(t, "cfg", "../../emu/activity/testdata/figures.sm_70.cubin", "--function", "figure1", "--frontiers")
	if status != exitDone || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	const want = `  priorities: B0 B1 B2 B3 B4 B5 B6 B7 B8
  frontier of B1: B2
  frontier of B2: B7
  frontier of B3: B7
  frontier of B4: B5 B7
  frontier of B5: B7
  frontier of B6: B7
  frontier sizes: 0 to 2, mean 0.78; re-convergence checks: 4
  joins of thread frontiers: B2 B5 B7; of post-dominators: B7
  unstructured, reducible: 6 blocks left of 10
  interacting out-edge: B1 to B7
  interacting out-edge: B4 to B7
`
	if !strings.HasSuffix(stdout, want) {
		t.Errorf("%s\nwant at its end:\n%s", stdout, want)
	}
	if _, _, status := invoke(t, "cfg", "../../emu/activity/testdata/figures.sm_70.cubin", "--frontiers", "--json"); status != exitUsage {
		t.Errorf("--frontiers --json: status %d", status)
	}
}

// TestDisasmFunction prints one function of a section.
func TestDisasmFunction(t *testing.T) {
	stdout, stderr, status := invoke(t, "disasm", "../../cubin/testdata/module.cubin", "--function", "ackermann", "--json")
	var object listing.DisasmReport
	if err := json.Unmarshal([]byte(stdout), &object); err != nil || status != exitDone {
		t.Fatalf("status %d, %s, %v", status, stderr, err)
	}
	if len(object.Sections) != 1 || len(object.Sections[0].Functions) != 1 || object.Sections[0].Functions[0].Name != "ackermann" {
		t.Fatalf("sections %+v", object.Sections)
	}
	if list := object.Sections[0].Instructions; list[0].PC != 0x400 || len(list) != 0x780/16 {
		t.Errorf("%d instructions from 0x%x on", len(list), list[0].PC)
	}
	if _, stderr, status := invoke(t, "disasm", "../../cubin/testdata/module.cubin", "--function", "nobody"); status != exitUsage || !strings.Contains(stderr, "nobody") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// TestDisasmNotExecuted says of instructions that no command executes what they are for, and a kernel that comes to one stops
// with that.
func TestDisasmNotExecuted(t *testing.T) {
	dir := t.TempDir()
	source, module := filepath.Join(dir, "shader.sass"), filepath.Join(dir, "shader.cubin")
	text := ".arch sm_80\n.kernel shader\nMOV R2, 0x1\nSURED.D.BA.2D.ADD.STRONG.SYS.TRAP [R8], R11, 0x0, 0x5a\nIPA.PASS R5, a[0x80]\nRPCMOV.64 Rpc, 0x0\nEXIT\n"
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := invoke(t, "asm", source, "-o", module); status != exitDone {
		t.Fatalf("status %d, %s", status, stderr)
	}
	stdout, stderr, status := invoke(t, "disasm", module, "--json")
	var object listing.DisasmReport
	if err := json.Unmarshal([]byte(stdout), &object); err != nil || status != exitDone {
		t.Fatalf("status %d, %s, %v", status, stderr, err)
	}
	want := []string{"", "textures and surfaces", "shaders", "traps, drivers and debuggers", ""}
	for k, purpose := range want {
		if in := object.Sections[0].Instructions[k]; in.Purpose != purpose {
			t.Errorf("%s: %q, want %q", in.SASS, in.Purpose, purpose)
		}
	}
	stdout, _, status = invoke(t, "run", module, "--kernel", "shader", "--grid", "1", "--block", "32")
	said := strings.Join(strings.Fields(stdout), " ")
	if status != exitFailed || !strings.Contains(said, "SURED.D.BA.2D.ADD.STRONG.SYS.TRAP is not supported: instructions of textures and surfaces are not executed") {
		t.Errorf("status %d, %s", status, stdout)
	}
}
