package terminal

import (
	"fmt"
	"time"

	"gpa"
	"gpa/emu"
)

// A launchProgress describes how far the launches of a file have come, for the line of progress.
type launchProgress struct {
	machine *emu.Progress
	blocks  int64 // of all launches
	clock   func() time.Time
	began   time.Time
}

func newLaunchProgress(t *gpa.Target, m *emu.Progress) *launchProgress {
	return &launchProgress{machine: m, blocks: t.Blocks(), clock: time.Now, began: time.Now()}
}

// String says how many blocks have ended, how long the rest will take if its blocks take as long as those, and how many warp
// instructions were executed.
func (p *launchProgress) String() string {
	ended := p.machine.Blocks()
	left := ""
	if ended > 0 && ended < p.blocks {
		perBlock := p.clock().Sub(p.began).Seconds() / float64(ended)
		left = fmt.Sprintf(", about %.0f s left", perBlock*float64(p.blocks-ended))
	}
	return fmt.Sprintf("%d of %d blocks%s, %.1f M warp instructions", ended, p.blocks, left, float64(p.machine.WarpInstructions())/1e6)
}

// Running shows how far the launches of a target have come.
func (p *Progress) Running(t *gpa.Target, m *emu.Progress) (end func()) {
	return p.Watch(newLaunchProgress(t, m))
}
