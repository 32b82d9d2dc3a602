package reports

import (
	"encoding/json"
	"strings"
	"testing"
)

// A finding with a source line has a physical location with a relative reference, one without has the function alone; both have the
// rule of their kind by its index.
func TestSARIF(t *testing.T) {
	addr := uint64(0x10)
	findings := []Finding{
		{Kind: "write-read race", Family: "race", Level: "error", Kernel: "k", Space: "shared", Addr: &addr, Bytes: 4, Count: 3,
			At:    Party{Location: Location{File: "./my kernels/a.cu", Line: 7, Function: "k"}, Thread: [3]int{1, 0, 0}},
			Other: &Party{Location: Location{File: "/src/b.cu", Line: 9}}},
		{Kind: "leak", Family: "memory", Level: "error", Kernel: "k", Count: 1, At: Party{Location: Location{Function: "k"}}},
		{Kind: "unused memory", Family: "init", Level: "warning", Count: 1},
		{Kind: "leak", Family: "memory", Level: "error", Kernel: "k", Count: 1},
	}
	var out strings.Builder
	if err := WriteSARIF(&out, "1.2", findings); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	if err := json.Unmarshal([]byte(out.String()), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	switch first := run.Results[0]; {
	case log.Version != "2.1.0" || run.Tool.Driver.Version != "1.2" || len(run.Tool.Driver.Rules) != 3 || len(run.Results) != 4:
		t.Errorf("log %+v", log)
	case first.Locations[0].Physical.Artifact.URI != "my%20kernels/a.cu" || first.Locations[0].Physical.Region.StartLine != 7:
		t.Errorf("location %+v", first.Locations[0])
	case first.Related[0].Physical.Artifact.URI != "file:///src/b.cu" || first.Count != 3:
		t.Errorf("result %+v", first)
	case run.Results[1].Locations[0].Physical != nil || run.Results[2].Locations != nil || run.Results[2].Level != "warning":
		t.Errorf("results %+v", run.Results)
	case run.Results[3].RuleIndex != run.Results[1].RuleIndex || run.Tool.Driver.Rules[run.Results[3].RuleIndex].ID != "memory/leak":
		t.Errorf("rules %+v", run.Tool.Driver.Rules)
	}
}
