package advisor

import (
	"bytes"
	"math"
	"testing"
)

// TestCalibrate holds that the powers between which the table says nine in ten runs lie are those between which they do.
func TestCalibrate(t *testing.T) {
	var list []TriedEstimate
	for i := range 101 { // tried = estimated to the power of i percent
		list = append(list, TriedEstimate{"unroll", 2, math.Pow(2, float64(i)/100)})
	}
	for range 19 {
		list = append(list, TriedEstimate{"rare", 1.5, 1.5 * 1.5}, TriedEstimate{"none", 1.04, 3}, TriedEstimate{"untried", 2, 0})
	}
	got := Calibrate(list)
	if len(got) != 2 || got[0].Optimizer != "" || got[0].Pieces != 120 || got[1].Optimizer != "unroll" || got[1].Pieces != 101 {
		t.Fatalf("%+v", got)
	}
	near(t, "low", got[1].Low, .05, 1e-9)
	near(t, "high", got[1].High, .95, 1e-9)
	near(t, "high of all", got[0].High, 2, 1e-9)
	var b bytes.Buffer
	if err := WriteCalibration(&b, got); err != nil {
		t.Fatal(err)
	}
	const want = "all\t120\t0.06\t2.00\nunroll\t101\t0.05\t0.95\n"
	if !bytes.HasSuffix(b.Bytes(), []byte(want)) {
		t.Errorf("%q", b.String())
	}
}

// TestCalibrationTable holds that the table is of this project's optimizers and can be read.
func TestCalibrationTable(t *testing.T) {
	table := calibrations()
	if table["all"].Pieces < 100 {
		t.Errorf("the table holds %d pieces", table["all"].Pieces)
	}
	known := map[string]bool{"all": true}
	for _, o := range Optimizers() {
		known[o.Name()] = true
	}
	for name, c := range table {
		if !known[name] || c.Low >= c.High || c.Pieces < leastPieces {
			t.Errorf("%+v", c)
		}
	}
	got := calibrated("no such optimizer", 2)
	near(t, "low", got[0], math.Pow(2, 1-spread*(1-table["all"].Low)), 1e-9)
}
