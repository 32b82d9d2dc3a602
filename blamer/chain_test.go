package blamer_test

import (
	"fmt"
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
)

func TestChains(t *testing.T) {
	p := sasstest.New(t, `
		divide: [B------:R-:W0:-:S01] MUFU.RCP R2, R4 ;
		load:   [B0-----:R-:W1:-:S01] LDG.E.SYS R0, [R2] ; // short_scoreboard=10
		add:    [B-1----:R-:W-:-:S04] FADD R6, R0, R7 ; // long_scoreboard=40
		store:  STG.E.SYS [R8], R6 ; // wait=3
		other:  [B------:R-:W2:-:S01] LDS.U R10, [R11] ;
		last:   [B--2---:R-:W-:-:S01] FADD R12, R10, R10 ; // short_scoreboard=20
		EXIT ;`)
	r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range r.Chains(5) {
		var hops []string
		for _, n := range c.Hops {
			hops = append(hops, name(p, n))
		}
		got = append(got, fmt.Sprintf("%s %v %g", strings.Join(hops, "<"), c.Samples, c.Total))
	}
	want := []string{"store<add<load<divide [3 40 10] 53", "last<other [20] 20"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("chains %q, want %q", got, want)
	}
	if n := len(r.Chains(1)); n != 1 {
		t.Errorf("%d chains, want 1", n)
	}
}

// TestChainsOfLoops holds that a circle of dependencies ends.
func TestChainsOfLoops(t *testing.T) {
	p := sasstest.New(t, `
		loop: [B-1----:R-:W0:-:S01] LDG.E.SYS R2, [R2] ; // long_scoreboard=10
		use:  [B0-----:R-:W1:-:S01] LDG.E.SYS R2, [R2] ; // long_scoreboard=20
		@P0 BRA `+"`(loop)"+` ;
		EXIT ;`)
	r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	chains := r.Chains(5)
	if len(chains) != 2 || len(chains[0].Hops) != 2 || chains[0].Total != 20 {
		t.Errorf("chains %+v", chains)
	}
}
