package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestCFG looks at the graph of a kernel with functions, in all forms.
func TestCFG(t *testing.T) {
	const cubin = "../../cubin/testdata/module.cubin"
	out := func(args ...string) string {
		t.Helper()
		stdout, stderr, status := gpa(t, append([]string{"cfg", cubin}, args...)...)
		if status != exitDone || stderr != "" {
			t.Fatalf("%v: status %d, %s", args, status, stderr)
		}
		return stdout
	}
	var object cfgObject
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
