package arch

// Resources is what a block of a launch takes.
type Resources struct {
	Threads       int // a block
	Registers     int // a thread
	SharedStatic  int // bytes a block
	SharedDynamic int // bytes a block
	Blocks        int // of the whole grid
}

// An Occupancy says how many blocks and warps are resident together and what keeps it from being more.
type Occupancy struct {
	BlocksPerSM       int
	WarpsPerBlock     int
	WarpsPerScheduler float64 // resident warps of one scheduler on a fully loaded SM, at most what the grid provides
	Limit             string  // registers, shared, threads, blocks or grid
}
