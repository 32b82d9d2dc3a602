package emu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// clusterProgram stores, in the word of each thread, the SM that its block is on and its rank in the cluster.
const clusterProgram = `
	S2R R0, SR_TID.X
	S2R R4, SR_CTAID.X
	S2R R5, SR_CgaCtaId
	S2R R6, SR_VIRTUALSMID
	UCGABAR_ARV
	UCGABAR_WAIT
	IMAD R7, R5, 0x10000, R6
	MOV R10, 0x4
	IMAD R8, R4, 0x20, R0
	IMAD.WIDE.U32 R2, R8, R10, c[0x0][0x160]
	STG.E [R2], R7
	EXIT`

// The blocks of a cluster are on SMs of one GPC, each on another one while there is room, and have ranks in order; so it is for clusters
// that come to places which others have left.
func TestClusterPlacement(t *testing.T) {
	const size, blocks = 4, 4 * 600
	gpu := modelOf(sass.SM90)
	for _, level := range []TimingLevel{TimingNone, TimingFull} {
		p := &timedProgram{model: gpu, text: clusterProgram, blocks: blocks, buffers: [][]uint32{make([]uint32, 32*blocks)}}
		m, l, addrs := p.start(t, gpu, Options{Timing: level})
		l.Cluster = [3]int{size, 1, 1}
		if _, err := m.Launch(context.Background(), l); err != nil {
			t.Fatal(err)
		}
		data, err := m.View(addrs[0], 4*32*blocks)
		if err != nil {
			t.Fatal(err)
		}
		for first := 0; first < blocks; first += size {
			var sms []int
			for rank := range size {
				v := load(data[4*32*(first+rank):][:4])
				if int(v>>16) != rank {
					t.Fatalf("%v: block %d has rank %d", level, first+rank, v>>16)
				}
				sms = append(sms, int(v&0xffff))
			}
			if level == TimingNone {
				continue
			}
			if slices.ContainsFunc(sms, func(sm int) bool { return gpcOf(gpu, sm) != gpcOf(gpu, sms[0]) }) {
				t.Fatalf("the cluster of block %d is on SMs %v", first, sms)
			}
			if slices.Sort(sms); first == 0 && len(slices.Compact(sms)) != size {
				t.Errorf("the first cluster is on SMs %v", sms)
			}
		}
	}
}

// A cluster that no GPC has room for is refused.
func TestClusterTooLarge(t *testing.T) {
	gpu := modelOf(sass.SM90)
	p := &timedProgram{model: gpu, text: clusterProgram, blocks: 16, buffers: [][]uint32{make([]uint32, 32*16)}}
	small := *gpu
	small.SMs.Value = 4
	small.Clusters.GPCs.Value = 4
	small.Limits.Blocks.Value = 2
	m, l, _ := p.start(t, &small, Options{})
	l.Cluster = [3]int{8, 1, 1}
	var refused *ResourceError
	if _, err := m.Launch(context.Background(), l); !errors.As(err, &refused) || !strings.Contains(err.Error(), "does not fit on a GPC") {
		t.Errorf("the launch ends with %v", err)
	}
}

// Threads that wait for others of their cluster that wait for them are a deadlock of the cluster.
func TestClusterDeadlock(t *testing.T) {
	gpu := modelOf(sass.SM90)
	text := strings.Replace(clusterProgram, "UCGABAR_ARV", "ISETP.EQ.AND P0, PT, R5, RZ, PT\n@P0 BAR.SYNC.DEFER_BLOCKING 0x0, 0x40\nUCGABAR_ARV", 1)
	for _, level := range []TimingLevel{TimingNone, TimingFull} {
		p := &timedProgram{model: gpu, text: text, blocks: 2, buffers: [][]uint32{make([]uint32, 64)}}
		m, l, _ := p.start(t, gpu, Options{Timing: level})
		l.Cluster = [3]int{2, 1, 1}
		_, err := m.Launch(context.Background(), l)
		var fault *Fault
		if !errors.As(err, &fault) || fault.Kind != BarrierDeadlock || !strings.Contains(fault.Detail, "no thread of the cluster can go on") {
			t.Errorf("%v: the launch ends with %v", level, err)
		}
	}
}

// A load from another block takes longer than one from the own, by the latency of the way.
func TestRemoteLatency(t *testing.T) {
	const loads = 8 // of zeros, each at an address that the one before gives
	gpu := modelOf(sass.SM90)
	cycles := func(rank string) int64 {
		text := `
			S2R R4, SR_CgaCtaId
			MOV R6, ` + rank + `
			UCGABAR_ARV
			UCGABAR_WAIT
			SHF.L.U32 R6, R6, 0x18, RZ
			S2R R7, SR_SWINHI
			[B------:R-:W-:-:S10] NOP
			[B------:R-:W-:-:S10] NOP
` + strings.Repeat(`
			[B------:R-:W0:-:S02] LD.E R8, [R6]
			[B0-----:R-:W-:-:S04] IADD3 R6, R8, R6, RZ`, loads) + `
			UCGABAR_ARV
			UCGABAR_WAIT
			EXIT`
		p := &timedProgram{model: gpu, text: text, blocks: 2, shared: 4096, buffers: [][]uint32{make([]uint32, 64)}}
		m, l, _ := p.start(t, gpu, Options{Timing: TimingFull})
		l.Cluster = [3]int{2, 1, 1}
		r, err := m.Launch(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		return r.Cycles
	}
	own, other := cycles("R4"), cycles("0x1")
	more := float64(gpu.Clusters.Remote.Cycles() - gpu.Latencies.Shared.Cycles())
	if got := float64(other-own) / loads; got < .9*more || got > 1.1*more {
		t.Errorf("loads from another block take %g cycles more, want about %g", got, more)
	}
}
