package advisor

import (
	"os"
	"strings"
	"testing"
)

// TestWorkedExample holds that the optimizer of docs/optimizer.md is the one that is tested here, and that it does what the document says.
func TestWorkedExample(t *testing.T) {
	file, err := os.ReadFile("longsleep_test.go")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../docs/optimizer.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(guide), "```go\n"+string(file)+"```") {
		t.Error("docs/optimizer.md does not have longsleep_test.go as it is")
	}
	checkOptimizer(t, longSleep{}, []optimizerCase{
		{name: "a fifth of the samples", source: `
			NANOSLEEP 0x64 ; // selected=5
			FADD R2, R2, R3 ; // sleeping=20/20` + rest + `75
			EXIT ;`, speedup: 1.25, says: []string{"__nanosleep"}},
		{name: "near miss: barriers", source: `
			BAR.SYNC 0x0 ; // selected=5
			FADD R2, R2, R3 ; // barrier=20/20` + rest + `75
			EXIT ;`},
	})
}
