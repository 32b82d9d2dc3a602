package gpa

import (
	"context"
	"math"

	"gpa/advisor"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/launch"
)

// What-if runs of a large launch time a portion of it, on that portion of the GPU, as it is and with the change: so there is time for
// more of them than a few.

// A portion is the part of a launch that its trials time.
type portion struct {
	model  *arch.Model
	part   *emu.Part // nil for all
	before int64     // cycles without a change
	cut    *emu.Cut  // of the rounds of a long loop, nil for none
	short  int64     // cycles without a change where it is cut
	pace   float64   // cycles for an instruction without a change
}

const (
	// trialCost is what a trial takes on an average, in instructions of the launch: work that is divided among threads takes more.
	trialCost = 1.5
	// mostParts is the least portion of a GPU: an eighth of one has a dozen SMs, few enough to be cheap, enough to share an L2.
	mostParts = 8
	// portionError is by which part the cycles of a portion may differ from those of the launch: it shares L2, DRAM and single
	// addresses with fewer blocks.
	portionError = .1
	// partError is by which part the number of blocks of a portion may be more or less than its share.
	partError = .03
	// leastWaves is how many waves of blocks are kept of those of a large grid.
	leastWaves = 6
	// leastRounds is how many rounds are kept of a long loop: several tiles' worth.
	leastRounds = 32
	// cutError is as portionError, where rounds are left out: those that come first find less in the caches.
	cutError = .2
)

// divide chooses the portion of the k-th launch that its trials time: the largest of which the budget allows as many as there are changes to
// try, if it takes as long as the whole launch. What a portion shares of L2 and of the last wave is not what the launch does, so that trials on it
// are further off: merged blocks of an embedding gain 1.16x compiled, 1.15x tried on the whole GPU and 0.94x on a quarter of it.
func (t *trial) divide(ctx context.Context, k int) error {
	l := t.result.Profile.Launches[k]
	if t.target.File.Caches == launch.Warm {
		return nil
	}
	trials := 0
	for i := range t.result.Launches[k].Advice {
		if m := t.result.Launches[k].Advice[i].Match; m.Change != nil && m.Launches <= 1 && !m.Change.Compiles() { // which have a budget of their own
			trials++
		}
	}
	wanted := trialCost * float64(l.Facts.WarpInstructions*int64(trials)) / float64(t.budget)
	parts := 1
	for parts < mostParts && wanted > float64(parts) {
		parts *= 2
	}
	blocks := float64(l.Grid[0] * l.Grid[1] * l.Grid[2])
	waves := blocks / float64(max(1, l.Facts.BlocksPerSM*l.Facts.SMs))
	every := max(1, int(min(wanted/mostParts, waves/leastWaves)))
	heavy := t.heavy > 0 && wanted > 2*float64(parts*every)
	if heavy {
		every = max(1, int(min(math.Ceil(wanted/mostParts), math.Ceil(waves))))
	}
	for ; parts > 1; parts /= 2 {
		p := portion{part: &emu.Part{Every: every}}
		p.model, p.part.Share = t.target.GPU.Part(parts)
		if exact := p.part.Share * blocks / float64(every); !heavy && math.Abs(math.Round(exact)/exact-1) > partError {
			continue
		}
		ok, err := t.stands(ctx, k, p)
		switch {
		case err != nil:
			return err
		case ok && heavy:
			return t.cut(ctx, k, wanted/float64(parts*every))
		case ok:
			return nil
		}
	}
	return nil
}

// cut makes the trials leave out rounds of a loop that most of the k-th launch is about, so that they take so much less time, if what is left
// takes as long for an instruction.
func (t *trial) cut(ctx context.Context, k int, by float64) error {
	loop, rounds, ok := advisor.LongLoop(t.result.Launches[k].Blame, 2*leastRounds)
	every := int(min(math.Ceil(by), rounds/leastRounds))
	if !ok || every < 2 {
		return nil
	}
	whole := t.portion
	t.portion.cut = &emu.Cut{Loop: streamTranslator{t.target.Module}.loop(loop), Every: every}
	r, fails, err := t.run(ctx, k, &advisor.Change{})
	if err != nil {
		return err
	}
	t.spent += r.spent
	if fails == "" && math.Abs(r.pace()/whole.pace-1) <= cutError {
		t.portion.short = r.cycles
		return nil
	}
	t.portion = whole
	return nil
}

// shortens reports whether rounds are left out where a change is tried: not of changes that are real, nor of other code, nor of those that divide rounds, which need
// all of them.
func (p *portion) shortens(c *advisor.Change) bool {
	if s := c.Streams; s != nil && (s.Transposed != nil || s.Spread != nil || s.Divided != nil || s.Rolled != nil) {
		return false
	}
	return p.cut != nil && !real(c) && !c.Compiles()
}

// of is how many cycles a launch takes that is timed as that with a change, without it.
func (p *portion) of(c *advisor.Change) int64 {
	if p.shortens(c) {
		return p.short
	}
	return p.before
}

// stands makes a portion that of the trials if it takes as long as the launch, or the launch takes too long for anything else.
func (t *trial) stands(ctx context.Context, k int, p portion) (bool, error) {
	whole := t.portion
	t.portion = p
	r, fails, err := t.run(ctx, k, &advisor.Change{})
	t.spent += r.spent
	takes := float64(r.cycles) * float64(p.part.Every) / float64(whole.before)
	if err == nil && fails == "" && (math.Abs(takes-1) <= portionError || t.tooLong(t.result.Profile.Launches[k])) {
		t.portion.before, t.portion.pace = r.cycles, r.pace()
		return true, nil
	}
	t.portion = whole
	return false, err
}

// with is the part of a trial after which the outputs are compared, or not.
func (p *portion) with(outputs bool) *emu.Part {
	if p.part == nil {
		return nil
	}
	part := *p.part
	part.Others = outputs
	return &part
}
