package rewrite

import "testing"

// TestCensusAgrees holds the count of a whole file against its parts.
func TestCensusAgrees(t *testing.T) {
	var total Tally
	for name, file := range corpus(t) {
		tally, err := Census(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, err := Restructure(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if tally.Functions != r.Total || tally.Unstructured != len(r.Changes) {
			t.Errorf("%s: %d of %d functions, restructuring finds %d of %d", name, tally.Unstructured, tally.Functions, len(r.Changes), r.Total)
		}
		total.Add(tally)
	}
	if total.Unstructured == 0 || total.ForwardCopies == 0 || total.Cuts == 0 || total.Failed > 0 {
		t.Errorf("%+v", total)
	}
	t.Logf("%+v", total)
}
