package micro

import (
	"fmt"
	"os"
	"testing"
	"time"

	"gpa/emu/arch"
)

func TestExplore(t *testing.T) {
	gpu, _ := arch.ByName(os.Getenv("GPU"))
	if gpu == nil {
		t.Skip()
	}
	gpu.Arch = 70
	b, err := New(gpu)
	if err != nil {
		t.Fatal(err)
	}
	show := func(name string, f func() (float64, error)) {
		start := time.Now()
		v, err := f()
		fmt.Printf("%-28s %10.2f  %v %.2fs\n", name, v, err, time.Since(start).Seconds())
	}
	for _, kb := range []int64{16, 100, 120, 140, 200, 1000, 5000} {
		show(fmt.Sprint("latency ", kb), func() (float64, error) { return b.Latency(kb * 1024) })
	}
	for _, kb := range []int64{8000, 100000, 2200000} {
		show(fmt.Sprint("latency ", kb), func() (float64, error) { return b.Latency(kb * 1024) })
	}
	show("shared", b.SharedLatency)
	show("atomic", b.AtomicLatency)
	for _, k := range []string{"ffma_1", "ffma_8", "dfma_1", "dfma_4", "imad_1", "imad_4", "shf_1", "shf_4", "hfma2_1", "hfma2_4", "mufu_1", "mufu_4", "convert_1", "convert_4", "popc_1", "popc_4", "shfl_1", "shfl_4"} {
		for _, w := range []int{1, 32} {
			show(fmt.Sprint(k, " ", w), func() (float64, error) { return b.Chains(k, w) })
		}
	}
	for _, s := range []int{1, 2, 3, 4, 8, 16, 32, 33} {
		show(fmt.Sprint("shared stride ", s), func() (float64, error) { return b.SharedStride(s) })
		show(fmt.Sprint("global stride ", s), func() (float64, error) { return b.GlobalStride(s, false) })
	}
	show("atomics same", func() (float64, error) { return b.Atomics(0, 0) })
	show("atomics warp", func() (float64, error) { return b.Atomics(32, 0) })
	show("atomics own", func() (float64, error) { return b.Atomics(32, 1) })
	show("L1", func() (float64, error) { return b.CacheBandwidth(64<<10, true) })
	show("L2", func() (float64, error) { return b.CacheBandwidth(1<<20, true) })
	for _, s := range streams {
		show("stream "+s.Name, func() (float64, error) { return b.Bandwidth(s.Name, 1024, 2) })
	}
}
