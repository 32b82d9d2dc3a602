package main

import (
	"fmt"
	"time"

	"gpa/emu"
)

// A launchProgress describes how far the launches of a file have come, for the line of progress.
type launchProgress struct {
	machine *emu.Progress
	blocks  int64 // of all launches
	clock   func() time.Time
	began   time.Time
}

func newLaunchProgress(r *resolved, m *emu.Progress) *launchProgress {
	p := &launchProgress{machine: m, clock: time.Now, began: time.Now()}
	for i := range r.file.Launches {
		l := &r.file.Launches[i]
		p.blocks += int64(l.Repeat) * int64(l.Grid[0]) * int64(l.Grid[1]) * int64(l.Grid[2])
	}
	return p
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
