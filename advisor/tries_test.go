package advisor

import (
	"fmt"
	"slices"
	"testing"

	"gpa/profiler"
)

// TestTriesRank holds that what was tried ranks by what came out and before what was not, and what is worth listing.
func TestTriesRank(t *testing.T) {
	kernel := Scope{Kind: KernelScope}
	at := fmt.Sprintf("%s of section 0", KernelScope)
	list := []Advice{
		{Optimizer: "promising", Speedup: 3, Match: &Match{Scope: kernel}},
		{Optimizer: "diffuse", Speedup: 4, Diffuse: true, Match: &Match{Scope: kernel}},
		{Optimizer: "confirmed", Speedup: 1.2, Match: &Match{Scope: kernel}},
		{Optimizer: "refuted", Speedup: 2, Match: &Match{Scope: kernel}},
		{Optimizer: "slower", Speedup: 2, Match: &Match{Scope: kernel}},
		{Optimizer: "better", Speedup: 1.1, Match: &Match{Scope: kernel}},
		{Optimizer: "small", Speedup: 1.015, Match: &Match{Scope: kernel}},
	}
	tries := []profiler.Try{
		{Optimizer: "confirmed", Place: at, Speedup: 1.15}, {Optimizer: "refuted", Place: at, Speedup: 1.01},
		{Optimizer: "slower", Place: at, Speedup: .9}, {Optimizer: "better", Place: at, Speedup: 1.5},
		{Optimizer: "promising", Place: at, Why: "no what-if run can make this change"},
		{Optimizer: "diffuse", Place: "line x.cu:3 of section 0", Speedup: 9},
	}
	for i := range list {
		list[i].recall(tries)
	}
	rank(list)
	var ranked, worth []string
	for i := range list {
		ranked = append(ranked, list[i].Optimizer)
		if list[i].Worth() {
			worth = append(worth, list[i].Optimizer)
		}
	}
	if want := []string{"better", "confirmed", "refuted", "slower", "promising", "small", "diffuse"}; !slices.Equal(ranked, want) {
		t.Errorf("ranked %v, want %v", ranked, want)
	}
	if want := []string{"better", "confirmed", "promising", "diffuse"}; !slices.Equal(worth, want) {
		t.Errorf("worth listing %v, want %v", worth, want)
	}
	if list[4].Untried == "" {
		t.Error("why the change was not tried is not told")
	}
}
