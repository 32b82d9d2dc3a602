package advisor

import (
	"errors"
	"fmt"
	"math"

	"gpa/blamer"
)

// A Unit is a part of the GPU that bounds how fast a launch can be by the work that it does for it, however its code is scheduled: a
// roof of the roofline model (Williams et al., "Roofline", CACM 2009).
type Unit uint8

// The units. They add up where a change spares several.
const (
	DRAM Unit = 1 << iota
	L2
	SharedMemory
	IssueSlots
	allUnits = iota
	// Sectors stands for L2 and DRAM where they are spared what is needless: the sectors that the bytes used would fill remain.
	Sectors Unit = 1 << iota
)

// String names the unit in words.
func (u Unit) String() string {
	switch u {
	case DRAM:
		return "DRAM"
	case L2:
		return "L2"
	case SharedMemory:
		return "shared memory"
	case IssueSlots:
		return "the schedulers"
	}
	return "no unit"
}

// remedy is what makes the work of the unit less.
func (u Unit) remedy() string {
	switch u {
	case DRAM:
		return "Move fewer bytes: smaller types, several steps in one kernel while the data are in registers, tiles in shared memory for what is used again."
	case L2:
		return "Ask L2 for fewer sectors: accesses of neighbouring threads to neighbouring addresses, tiles in shared memory or registers for what is used again."
	case SharedMemory:
		return "Access shared memory less often: float4 and int4, several results a thread so that what is loaded into registers is used several times, shuffles."
	}
	return "Execute fewer instructions: wider types (half2, float4), tensor cores for matrix products, what does not change in a loop before it."
}

// A Limit is a unit that a launch keeps busy nearly all the time.
type Limit struct {
	Unit    Unit
	Busy    float64 // share of the launch's cycles in which the unit works, at its peak rate
	Ceiling float64 // what a change can bring at most that leaves the unit's work as it is
}

// Text says what the limit means.
func (l *Limit) Text() string {
	return fmt.Sprintf("The launch runs at %.0f%% of the peak of %s. A change that leaves it as much to do brings at most %.2fx. %s", 100*l.Busy, l.Unit, l.Ceiling, l.Unit.remedy())
}

// Limits returns the units that a launch keeps busy for at least 80 % of its time, from which on Nsight Compute's rules call a
// launch bound by a unit as well.
func Limits(r *blamer.Result) ([]Limit, error) {
	if r == nil || r.Launch == nil || r.Module == nil || r.Model == nil {
		return nil, errors.New("looking for limits: the blame of a launch is missing")
	}
	in := NewInput(r)
	var list []Limit
	cycles := float64(r.Launch.Facts.Cycles)
	for i := range allUnits {
		u := Unit(1) << i
		if busy := in.unitCycles(u); cycles > 0 && busy >= saturated*cycles {
			list = append(list, Limit{Unit: u, Busy: min(1, busy/cycles), Ceiling: in.ceiling((1<<allUnits - 1) &^ u)})
		}
	}
	return list, nil
}

// ceiling is the speedup at which the first unit but the spared ones is busy all the time that the SMs hold warps.
func (in *Input) ceiling(spared Unit) float64 {
	cycles, busiest := float64(in.Launch.Facts.Cycles), 0.0
	if cycles <= 0 {
		return math.Inf(1) // nobody knows
	}
	for i := range allUnits {
		if u := Unit(1) << i; spared&u == 0 {
			busiest = max(busiest, in.unitCycles(u)*in.needed(u, spared))
		}
	}
	return max(1, cycles/max(1, busiest+(1-max(in.held(), in.heldLongest()))*cycles))
}

// needed is the share of a unit's work that remains when needless sectors are spared.
func (in *Input) needed(u, spared Unit) float64 {
	if spared&Sectors == 0 {
		return 1
	}
	f := &in.Launch.Facts
	moved := map[Unit]float64{L2: float64(f.L2Bytes), DRAM: float64(f.DRAMReadBytes + f.DRAMWrittenBytes)}[u]
	if moved <= 0 {
		return 1
	}
	ideal := in.idealBytes()
	if ideal <= 0 {
		return 1
	}
	return min(1, ideal/moved)
}

// unitCycles is the number of cycles that a unit takes at least for what the launch asks of it; 0 where the profile does not tell.
func (in *Input) unitCycles(u Unit) float64 {
	f := &in.Launch.Facts
	sms := float64(min(f.SMs, volume(in.Launch.Grid)))
	switch {
	case u == DRAM:
		return in.dramCycles(in.Model.DRAM.Peak.Value, in.Model.DRAM.Peak.Value)
	case u == L2:
		return in.l2Cycles()
	case sms <= 0 || f.Extrapolated:
		return 0
	case u == SharedMemory:
		used, _ := in.passes()
		return used * in.Model.Queues.LSU.Value / sms
	case u == IssueSlots && f.SchedulersPerSM > 0:
		return float64(f.WarpInstructions) / (sms * float64(f.SchedulersPerSM))
	}
	return 0
}

// dramCycles is the number of cycles that DRAM takes at the bytes a second at which it reads and writes for what the launch moves; 0
// where the profile does not tell.
func (in *Input) dramCycles(read, write float64) float64 {
	f := &in.Launch.Facts
	if read <= 0 || write <= 0 || f.ClockHz <= 0 || f.Extrapolated {
		return 0
	}
	return (float64(f.DRAMReadBytes)/read + float64(f.DRAMWrittenBytes)/write) * f.ClockHz
}

// l2Cycles is the same for the slices of L2.
func (in *Input) l2Cycles() float64 {
	width := in.Model.L2.Slices.Value * in.Model.L2.SliceWidth.Value
	if width <= 0 || in.Launch.Facts.Extrapolated {
		return 0
	}
	return float64(in.Launch.Facts.L2Bytes) / width
}

// memoryCycles is the time of the one of both that takes longer, DRAM at the most that it achieves.
func (in *Input) memoryCycles() float64 {
	d := &in.Model.DRAM
	return max(in.dramCycles(d.Achieved.Value*d.Read.Value, d.Achieved.Value), in.l2Cycles())
}
