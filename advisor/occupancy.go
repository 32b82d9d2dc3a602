package advisor

import (
	"fmt"
	"math"

	"gpa/emu/arch"
	"gpa/emu/stall"
)

// occupancyIncrease matches launches whose warps wait and whose SMs could hold more of them, but for the registers or the shared
// memory that a block takes, while blocks are left to run.
type occupancyIncrease struct{}

func (occupancyIncrease) Name() string { return "occupancy-increase" }
func (occupancyIncrease) Class() Class { return Parallel }

func (occupancyIncrease) Match(in *Input) []*Match {
	f := &in.Launch.Facts
	blocks, threads := volume(in.Launch.Grid), volume(in.Launch.Block)
	if f.SMs <= 0 || f.SchedulersPerSM <= 0 || threads <= 0 || in.Total == 0 {
		return nil
	}
	if idle := in.idleWarps(); len(idle) > 0 {
		return idle
	}
	now := in.occupancy(blocks, threads)
	most, advice := in.moreResident(now, blocks, threads)
	if most <= now.BlocksPerSM {
		return nil
	}
	perBlock := float64(ceilDiv(threads, warpSize)) / float64(f.SchedulersPerSM)
	p := Parallelism{
		Warps: float64(now.BlocksPerSM) * perBlock, NewWarps: float64(most) * perBlock,
		IssuedRatio: in.ByReason[stall.Selected] / in.Total, Factor: 1,
	}
	// More warps do not make a full queue of the memory faster, nor the first use of code and constants.
	waiting := 1 - min(1, (in.queued()+in.firstUses())/in.Total)
	m := in.launchMatch(in.ofLaunch(1 / (1 - waiting + waiting/p.Occupy())))
	m.Change = &Change{Resident: most}
	if now.Limit == arch.LimitRegisters {
		m.Least = leastByRegisters
	}
	m.Suggestions = []string{
		fmt.Sprintf("An SM holds %s, %.3g warps a scheduler, limited by %s. %s", count(now.BlocksPerSM, "block"), p.Warps, limitName(now.Limit), advice),
		fmt.Sprintf("With %s a scheduler has %.3g warps to choose from. Not where the values then have to be loaded or computed again.", count(most, "block"), p.NewWarps),
	}
	return []*Match{m}
}

// With fewer registers compilers make other code. leastByRegisters is what the change has to gain where the code is supposed to stay: of kernels for
// which 1.09x (twice), 1.19x and 1.23x were tried, __launch_bounds__ brought 0.87x, 1.06x, 0.2x and 1.23x. mostAdded is the share of instructions that may come to those
// of the kernel as it is, for values that have to be computed or loaded again.
const (
	leastByRegisters = 1.2
	mostAdded        = .05
)

// registersFor is how many registers a thread may take so that an SM holds so many blocks, a multiple of 8 as they are allocated.
func (in *Input) registersFor(blocks int, r arch.Resources) int {
	for r.Registers = r.Registers / 8 * 8; r.Registers > 0 && arch.OccupancyOf(in.Model, r).BlocksPerSM < blocks; r.Registers -= 8 {
	}
	return r.Registers
}

// moreResident returns how many blocks an SM could hold if the resource that limits them were half as much a block, and says so; no
// more than the grid has for it.
func (in *Input) moreResident(now arch.Occupancy, blocks, threads int) (int, string) {
	f := &in.Launch.Facts
	r := in.resources(math.MaxInt32, threads)
	var advice string
	switch now.Limit {
	case arch.LimitRegisters:
		half := r
		half.Registers = (f.Registers + 1) / 2
		most := min(2*now.BlocksPerSM, arch.OccupancyOf(in.Model, half).BlocksPerSM, ceilDiv(blocks, f.SMs))
		if most > now.BlocksPerSM {
			for live := in.liveBlocks(); most > now.BlocksPerSM && added(live, in.registersFor(most, r)) > mostAdded; most-- {
			}
		}
		return most, fmt.Sprintf("A thread takes %d registers: try __launch_bounds__(%d, %d), or split the kernel.", f.Registers, threads, most)
	case arch.LimitShared:
		r.SharedStatic, r.SharedDynamic = f.SharedStatic/2, f.SharedDynamic/2
		advice = fmt.Sprintf("A block takes %d bytes of shared memory: use smaller tiles or types, or the same memory for what is not needed at the same time.",
			in.shared())
	default:
		return 0, ""
	}
	return min(arch.OccupancyOf(in.Model, r).BlocksPerSM, ceilDiv(blocks, f.SMs)), advice
}
