package arch

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"
)

// occupancyTable is what cuda_occupancy.h says: see testdata/occupancy.c.
//
//go:embed testdata/occupancy.tsv
var occupancyTable string

// TestOccupancyAgainstHeader compares the number of resident blocks with NVIDIA's own algorithm, on every architecture.
func TestOccupancyAgainstHeader(t *testing.T) {
	gpus := map[int]*Model{}
	rows, limits := 0, map[string]int{}
	for line := range strings.Lines(occupancyTable) {
		var sm, blocks int
		r := Resources{Blocks: 1 << 20}
		if n, _ := fmt.Sscan(line, &sm, &r.Threads, &r.Registers, &r.SharedStatic, &r.Barriers, &blocks); n != 6 {
			continue // the head
		}
		if gpus[sm] == nil {
			m, err := ByName(fmt.Sprintf("sm_%d", sm))
			if err != nil {
				t.Fatal(err)
			}
			gpus[sm] = m
		}
		o := OccupancyOf(gpus[sm], r)
		if o.BlocksPerSM != blocks {
			t.Errorf("sm_%d, %+v: %d blocks by %s, want %d", sm, r, o.BlocksPerSM, o.Limit, blocks)
		}
		rows++
		limits[o.Limit]++
	}
	if rows < 1000 || len(gpus) < 6 || len(limits) < 5 {
		t.Errorf("%d rows of %d architectures, limits %v", rows, len(gpus), limits)
	}
}

// The expected values are those of NVIDIA's occupancy calculator for compute capability 7.0.
func TestOccupancyOf(t *testing.T) {
	const many = 1 << 20
	tests := []struct {
		name      string
		r         Resources
		blocks    int
		warps     int
		scheduler float64
		limit     string
		carveout  int
	}{
		{"threads and registers alike", Resources{Threads: 256, Registers: 32, Blocks: many}, 8, 8, 16, LimitThreads, 0},
		{"few registers", Resources{Threads: 256, Registers: 16, Blocks: many}, 8, 8, 16, LimitThreads, 0},
		{"33 registers round to 40", Resources{Threads: 256, Registers: 33, Blocks: many}, 6, 8, 12, LimitRegisters, 0},
		{"64 registers", Resources{Threads: 256, Registers: 64, Blocks: many}, 4, 8, 8, LimitRegisters, 0},
		{"255 registers", Resources{Threads: 256, Registers: 255, Blocks: many}, 1, 8, 2, LimitRegisters, 0},
		{"odd warps, sub-cores hold their own registers", Resources{Threads: 96, Registers: 168, Blocks: many}, 4, 3, 3, LimitRegisters, 0},
		{"small blocks", Resources{Threads: 32, Registers: 16, Blocks: many}, 32, 1, 8, LimitBlocks, 0},
		{"one thread is a warp", Resources{Threads: 1, Registers: 16, Blocks: many}, 32, 1, 8, LimitBlocks, 0},
		{"shared memory", Resources{Threads: 128, Registers: 16, SharedStatic: 20000, Blocks: many}, 4, 4, 4, LimitShared, 96 << 10},
		{"static and dynamic add up", Resources{Threads: 128, Registers: 16, SharedStatic: 4096, SharedDynamic: 4097, Blocks: many}, 11, 4, 11, LimitShared, 96 << 10},
		{"carve-out fits the blocks", Resources{Threads: 1024, Registers: 32, SharedStatic: 8192, Blocks: many}, 2, 32, 16, LimitThreads, 16 << 10},
		{"grid", Resources{Threads: 256, Registers: 16, Blocks: 100}, 2, 8, 4, LimitGrid, 0},
		{"grid that just fills", Resources{Threads: 1024, Registers: 16, Blocks: 160}, 2, 32, 16, LimitThreads, 0},
		{"too many threads", Resources{Threads: 1025, Registers: 16, Blocks: many}, 0, 33, 0, LimitThreads, 0},
		{"too many registers a block", Resources{Threads: 1024, Registers: 65, Blocks: many}, 0, 32, 0, LimitRegisters, 0},
		{"register check rounds warps up", Resources{Threads: 32 * 9, Registers: 192, Blocks: many}, 0, 9, 0, LimitRegisters, 0},
		{"shared over the limit", Resources{Threads: 32, Registers: 16, SharedDynamic: 96<<10 + 1, Blocks: many}, 0, 1, 0, LimitShared, 0},
	}
	m := v100()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := OccupancyOf(m, tt.r)
			want := Occupancy{tt.blocks, tt.warps, tt.scheduler, tt.limit, tt.carveout}
			if o != want {
				t.Errorf("got %+v, want %+v", o, want)
			}
		})
	}
}
