package arch

// Resources is what a block of a launch takes.
type Resources struct {
	Threads       int // a block
	Registers     int // a thread
	SharedStatic  int // bytes a block
	SharedDynamic int // bytes a block
	Barriers      int // CTA barriers a block
	Blocks        int // of the whole grid
}

// What keeps occupancy from being higher, as Occupancy.Limit.
const (
	LimitRegisters = "registers"
	LimitShared    = "shared"
	LimitThreads   = "threads"
	LimitBlocks    = "blocks"
	LimitBarriers  = "barriers"
	LimitGrid      = "grid"
)

// An Occupancy says how many blocks and warps are resident together and what keeps it from being more.
type Occupancy struct {
	BlocksPerSM       int // 0 where a block does not fit
	WarpsPerBlock     int
	WarpsPerScheduler float64 // resident warps of one scheduler on a fully loaded SM, at most what the grid provides
	Limit             string  // registers, shared, threads, blocks, barriers or grid
	Carveout          int     // bytes of the unified memory that are shared memory, the smallest that holds the blocks
}

// OccupancyOf returns the occupancy of a launch. It follows the rules of NVIDIA's cuda_occupancy.h: registers are
// allocated to warps and every sub-core holds its own, a block's registers are checked as if its warps filled all
// sub-cores evenly, and the carve-out of shared memory is as large as it need be. Of several equal limits the first of
// threads, blocks, registers, shared, barriers, grid is named: one that no change of the kernel moves goes before the others.
func OccupancyOf(m *Model, r Resources) Occupancy {
	l := &m.Limits
	o := Occupancy{WarpsPerBlock: ceilDiv(r.Threads, l.WarpSize.Int())}
	limits := []struct {
		name   string
		blocks int
	}{
		{LimitThreads, l.byThreads(r, o.WarpsPerBlock)},
		{LimitBlocks, l.Blocks.Int()},
		{LimitRegisters, l.byRegisters(r, o.WarpsPerBlock)},
		{LimitShared, l.byShared(r)},
		{LimitBarriers, l.byBarriers(r)},
	}
	o.BlocksPerSM, o.Limit = limits[0].blocks, limits[0].name
	for _, x := range limits[1:] {
		if x.blocks < o.BlocksPerSM {
			o.BlocksPerSM, o.Limit = x.blocks, x.name
		}
	}
	if grid := ceilDiv(r.Blocks, m.SMs.Int()); grid < o.BlocksPerSM {
		o.BlocksPerSM, o.Limit = grid, LimitGrid
	}
	o.WarpsPerScheduler = float64(o.BlocksPerSM*o.WarpsPerBlock) / l.Schedulers.Value
	o.Carveout = l.carveout(o.BlocksPerSM * l.sharedOf(r))
	return o
}

// unlimited stands for a resource that the block takes nothing of.
const unlimited = 1 << 30

func (l *Limits) byThreads(r Resources, warps int) int {
	if r.Threads > l.ThreadsPerBlock.Int() || warps == 0 {
		return 0
	}
	return l.Warps.Int() / warps
}

func (l *Limits) byRegisters(r Resources, warps int) int {
	if r.Registers <= 0 || warps == 0 {
		return unlimited
	}
	schedulers := l.Schedulers.Int()
	perWarp := RoundUp(r.Registers*l.WarpSize.Int(), l.RegisterUnit.Int())
	if perWarp*RoundUp(warps, schedulers) > l.RegistersBlock.Int() || r.Registers > l.RegistersThread.Int() {
		return 0
	}
	return l.Registers.Int() / schedulers / perWarp * schedulers / warps
}

func (l *Limits) byShared(r Resources) int {
	block := l.sharedOf(r)
	if block == 0 {
		return unlimited
	}
	if block > l.SharedBlock.Int()+l.SharedReserved.Int() {
		return 0
	}
	return l.SharedCarveouts[len(l.SharedCarveouts)-1].Int() / block
}

func (l *Limits) byBarriers(r Resources) int {
	if r.Barriers == 0 || l.BarriersSM.Value == 0 {
		return unlimited
	}
	return l.BarriersSM.Int() / r.Barriers
}

// sharedOf returns the bytes of shared memory that a block is allocated.
func (l *Limits) sharedOf(r Resources) int {
	return RoundUp(r.SharedStatic+r.SharedDynamic+l.SharedReserved.Int(), l.SharedUnit.Int())
}

// carveout returns the smallest carve-out of at least that many bytes.
func (l *Limits) carveout(bytes int) int {
	for _, c := range l.SharedCarveouts {
		if c.Int() >= bytes {
			return c.Int()
		}
	}
	return l.SharedCarveouts[len(l.SharedCarveouts)-1].Int()
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// RoundUp is the least multiple of a unit that is not less than a.
func RoundUp(a, unit int) int { return ceilDiv(a, unit) * unit }
