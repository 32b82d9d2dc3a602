package reports

import (
	"fmt"
	"io"
	"strings"
)

// An Outcome is what became of a patch that was compiled and run.
type Outcome string

// The outcomes of patches.
const (
	Proved        Outcome = "proved"         // faster, with the outputs as before and no new finding
	NoGain        Outcome = "no-gain"        // gains less than 2 %
	Slower        Outcome = "slower"         // loses 2 % or more
	OutputsDiffer Outcome = "outputs-differ" // computes something else
	NewFinding    Outcome = "finding"        // gpa check finds an error that was not there
	SameCode      Outcome = "same-code"      // the compiler makes the same machine code of it
	NotCompiled   Outcome = "not-compiled"   // the compiler refuses it
	NotRun        Outcome = "not-run"        // the kernel does not run with it
	Untrue        Outcome = "untrue"         // it promises what does not hold; not compiled
)

// A Proof is what compiling and running a kernel with the changes that advice asks for has shown.
type Proof struct {
	Kernel   string   `json:"kernel"`
	Source   string   `json:"source"`       // the file that is changed
	Compiler string   `json:"compiler"`     // its command
	Given    int64    `json:"given_cycles"` // of the kernel in the cubin that was given
	Base     int64    `json:"base_cycles"`  // of the unchanged source's: what speedups are measured against
	Versions int      `json:"versions"`     // that were compiled
	Runs     int      `json:"runs"`         // of these that were run
	Skipped  int      `json:"skipped"`      // patches left out, as there were too many
	Patches  []*Patch `json:"patches"`      // those that are proved first, the best first
}

// A Patch is one change, and what it brought.
type Patch struct {
	Change    string  `json:"change"`
	Optimizer string  `json:"optimizer"`
	Estimated float64 `json:"estimated_speedup"`
	Tried     float64 `json:"tried_speedup,omitempty"`
	Outcome   Outcome `json:"outcome"`
	Speedup   float64 `json:"speedup,omitempty"`
	Cycles    int64   `json:"cycles,omitempty"`
	Outputs   string  `json:"outputs,omitempty"` // how they compare: "outputs equal", or which are within what tolerance
	Why       string  `json:"why,omitempty"`     // it is not proved

	Flags []string `json:"flags,omitempty"` // for the compiler
	Grid  []int    `json:"grid,omitempty"`  // with Block, the launch's other shape
	Block []int    `json:"block,omitempty"`
	Diff  string   `json:"diff,omitempty"` // of the source, unified
}

// A Tuning is a proof made again and again, each time with the best patch applied.
type Tuning struct {
	Proof
	Steps   []*Patch `json:"steps"` // the patches that were applied, in order; each with its speedup over the one before
	Speedup float64  `json:"speedup"`
	Cycles  int64    `json:"cycles"`
	Flags   []string `json:"flags,omitempty"`
	Grid    []int    `json:"grid,omitempty"`
	Block   []int    `json:"block,omitempty"`
	Diff    string   `json:"diff,omitempty"`
}

// baseDiffers is from what share on the compiler's kernel counts as another one than the given one.
const baseDiffers = .02

// ProofText prints a proof.
func ProofText(w io.Writer, p *Proof, style Style) error {
	t := &textReport{style: style}
	t.proofHead(p)
	shown := make(map[string]bool) // optimizers of which a diff was printed
	for _, patch := range p.Patches {
		if patch.Outcome == Proved {
			t.patch(patch, !shown[patch.Optimizer])
			shown[patch.Optimizer] = true
		}
	}
	if len(p.Patches) == 0 {
		t.line(" The advice has no mechanical patch.")
	}
	t.notProved(p.Patches)
	_, err := io.WriteString(w, t.out.String())
	return err
}

// proofHead says what was changed, by which compiler, and how its kernel compares with the one that was given.
func (t *textReport) proofHead(p *Proof) {
	t.inked(boldInk, "Patches of %s, compiled and run", p.Source)
	t.paragraph("  ", fmt.Sprintf("compiler: %s", p.Compiler))
	t.paragraph("  ", fmt.Sprintf("%s takes %s cycles as this compiler makes it: speedups are against that", p.Kernel, thousands(p.Base)))
	if d := float64(p.Base)/float64(max(1, p.Given)) - 1; d > baseDiffers || d < -baseDiffers {
		t.paragraph("  ", fmt.Sprintf("NOTE: the given cubin takes %s, %+.1f%%: it was built by another compiler, other flags or from another source", thousands(p.Given), -100*d/(1+d)))
	}
	left := ""
	if p.Skipped > 0 {
		left = fmt.Sprintf("; %s left out (--patches N)", plural(p.Skipped, "more was", "more were"))
	}
	t.paragraph("  ", fmt.Sprintf("%s compiled, %d run, the unchanged one among them%s", plural(p.Versions, "version", "versions"), p.Runs, left))
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// patch prints one that is proved.
func (t *textReport) patch(p *Patch, diff bool) {
	t.inkedParagraph(goodInk, " ", fmt.Sprintf("proved %.2fx (%s): %s, %s", p.Speedup, p.Outputs, p.Change, p.promise()))
	if len(p.Flags) > 0 {
		t.line("   compile with %s", strings.Join(p.Flags, " "))
	}
	if len(p.Grid) > 0 {
		t.line("   launch with grid %s, block %s", extents(p.Grid), extents(p.Block))
	}
	if diff {
		t.diff(p.Diff)
	}
}

// promise is what advice had said.
func (p *Patch) promise() string {
	if p.Tried > 0 {
		return fmt.Sprintf("%s, tried %.2fx", p.Optimizer, p.Tried)
	}
	return fmt.Sprintf("%s, estimated %.2fx", p.Optimizer, p.Estimated)
}

// diff writes a diff as it is, so that patch takes it.
func (t *textReport) diff(diff string) {
	for line := range strings.Lines(diff) {
		ink := plainInk
		switch {
		case strings.HasPrefix(line, "+"):
			ink = goodInk
		case strings.HasPrefix(line, "-"):
			ink = badInk
		}
		t.out.WriteString(t.style.paint(ink, strings.TrimSuffix(line, "\n")) + "\n")
	}
}

// notProved lists the other patches.
func (t *textReport) notProved(list []*Patch) {
	first := true
	for _, p := range list {
		if p.Outcome == Proved {
			continue
		}
		if first {
			t.line(" Not recommended:")
			first = false
		}
		t.paragraph("  - ", fmt.Sprintf("%s (%s): %s", p.Change, p.promise(), p.verdict()))
	}
}

// verdict says why a patch is not proved.
func (p *Patch) verdict() string {
	switch p.Outcome {
	case NoGain:
		return fmt.Sprintf("%.3fx when run, less than 2 %% of gain", p.Speedup)
	case Slower:
		return fmt.Sprintf("%.2fx when run: slower", p.Speedup)
	case OutputsDiffer:
		return "changes outputs: " + p.Why
	case NewFinding:
		return "gpa check finds " + p.Why
	case SameCode:
		return "the compiler makes the same machine code"
	case Untrue:
		return p.Why
	case NotCompiled:
		return "does not compile: " + p.Why
	}
	return "does not run: " + p.Why
}

func extents(d []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(d), " ", "x"), "[]")
}

// TuningText prints a tuning.
func TuningText(w io.Writer, t *Tuning, style Style) error {
	out := &textReport{style: style}
	out.proofHead(&t.Proof)
	for i, p := range t.Steps {
		out.paragraph(fmt.Sprintf(" %d. ", i+1), fmt.Sprintf("%.2fx (%s): %s, %s", p.Speedup, p.Outputs, p.Change, p.promise()))
	}
	out.notProved(t.Patches)
	if len(t.Steps) == 0 {
		out.line(" Nothing gains 2 %%: the source stays as it is.")
		_, err := io.WriteString(w, out.out.String())
		return err
	}
	out.inked(goodInk, " tuned %.2fx: %s instead of %s cycles", t.Speedup, thousands(t.Cycles), thousands(t.Base))
	if len(t.Flags) > 0 {
		out.line("   compile with %s", strings.Join(t.Flags, " "))
	}
	if len(t.Grid) > 0 {
		out.line("   launch with grid %s, block %s", extents(t.Grid), extents(t.Block))
	}
	out.diff(t.Diff)
	_, err := io.WriteString(w, out.out.String())
	return err
}
