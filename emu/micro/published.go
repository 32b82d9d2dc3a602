package micro

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"gpa/emu/arch"
)

//go:embed published.tsv
var publishedTable string

// A Measurement is a benchmark with its parameter, and what was published of a real GPU or measured on the emulated one.
type Measurement struct {
	Benchmark string  // as in "latency" or "stream triad"
	Parameter string  // KiB of a working set, threads x blocks an SM, warps, elements between lanes, lanes at a bank; "-" for none
	Value     float64 // in the unit
	Unit      string
	Source    string // of the published value, empty where there is none
}

// Published returns what was measured on a real GPU of the bench's model, in the order of the table.
func (b *Bench) Published() ([]Measurement, error) {
	var out []Measurement
	for line := range strings.Lines(publishedTable) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if f[0] != b.gpu.Name {
			continue
		}
		if len(f) != 6 {
			return nil, fmt.Errorf("published measurements: %d columns: %q", len(f), line)
		}
		value, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			return nil, fmt.Errorf("published measurements: %w", err)
		}
		out = append(out, Measurement{Benchmark: f[1], Parameter: f[2], Value: value, Unit: f[4], Source: f[5]})
	}
	return out, nil
}

// Standard returns the measurements that make sense on every GPU, without values.
func (b *Bench) Standard() []Measurement {
	kib := func(bytes int) string { return strconv.Itoa(bytes >> 10) }
	l2 := b.gpu.L2.Size.Int()
	threads := min(1024, b.gpu.Limits.Warps.Int()*b.gpu.Limits.WarpSize.Int()/2)
	full := fmt.Sprintf("%dx2", threads)
	out := []Measurement{
		{Benchmark: "latency", Parameter: "16", Unit: "cycles"},
		{Benchmark: "latency", Parameter: kib(l2 / 4), Unit: "cycles"},
		{Benchmark: "latency", Parameter: kib(l2 * 8), Unit: "cycles"},
		{Benchmark: "shared latency", Parameter: "-", Unit: "cycles"},
		{Benchmark: "shared latency", Parameter: "address", Unit: "cycles"},
		{Benchmark: "atomic latency", Parameter: "-", Unit: "cycles"},
		{Benchmark: "cache", Parameter: "64", Unit: "GB/s"},
		{Benchmark: "cache", Parameter: kib(l2 / 4), Unit: "GB/s"},
	}
	for _, s := range []string{"init", "read", "scale", "triad"} {
		out = append(out, Measurement{Benchmark: "stream " + s, Parameter: full, Unit: "GB/s"})
	}
	for _, k := range []string{"ffma_8", "dfma_4", "hfma2_4", "imad_4", "shf_4", "mufu_4", "convert_4", "popc_4", "shfl_4"} {
		out = append(out, Measurement{Benchmark: "chains " + k, Parameter: "32", Unit: "results/clk/SM"})
	}
	for _, s := range []string{"1", "2", "8", "32"} {
		out = append(out,
			Measurement{Benchmark: "shared stride", Parameter: s, Unit: "cycles"},
			Measurement{Benchmark: "stride f32", Parameter: s, Unit: "cycles"})
	}
	return append(out,
		Measurement{Benchmark: "atomics", Parameter: "0:0", Unit: "additions/clk"},
		Measurement{Benchmark: "atomics", Parameter: "32:1", Unit: "additions/clk"})
}

// Measure runs the benchmark of a measurement on the emulated GPU and returns the value in the measurement's unit.
func (b *Bench) Measure(m Measurement) (float64, error) {
	value, err := b.measure(m)
	if err != nil {
		return 0, fmt.Errorf("%s %s: %w", m.Benchmark, m.Parameter, err)
	}
	if m.Unit == "GB/s" {
		value /= 1e9
	}
	return value, nil
}

func (b *Bench) measure(m Measurement) (float64, error) {
	switch kind, detail, _ := strings.Cut(m.Benchmark, " "); {
	case m.Benchmark == "shared latency":
		return b.SharedLatency(m.Parameter == "address")
	case m.Benchmark == "atomic latency":
		return b.AtomicLatency()
	case kind == "stream":
		threads, blocks, err := pair(m.Parameter, "x")
		if err != nil {
			return 0, err
		}
		return b.Bandwidth(detail, threads, blocks)
	case kind == "atomics":
		perWarp, perThread, err := pair(m.Parameter, ":")
		if err != nil {
			return 0, err
		}
		return b.Atomics(perWarp, perThread)
	default:
		n, err := strconv.ParseFloat(m.Parameter, 64)
		if err != nil {
			return 0, err
		}
		return b.measureNumber(kind, detail, n)
	}
}

// measureNumber runs a benchmark whose parameter is a number.
func (b *Bench) measureNumber(kind, detail string, n float64) (float64, error) {
	switch kind {
	case "latency":
		return b.Latency(int64(n * 1024))
	case "cache":
		const slow = 64 // cycles; where FP64 is slower than L1, floats were read
		return b.CacheBandwidth(int64(n*1024), b.gpu.Pipes[arch.FP64].Interval.Value < slow)
	case "l2":
		return b.L2Bandwidth(int64(n * 1024))
	case "chains":
		return b.Chains(detail, int(n))
	case "shared":
		return b.SharedStride(int(n))
	case "conflicts", "sectors":
		return b.ofWidth(kind, detail, int(n))
	case "stride":
		return b.GlobalStride(int(n), detail == "f64")
	}
	return 0, fmt.Errorf("there is no benchmark of that name")
}

// ofWidth runs a benchmark of loads of 32, 64 or 128 bits a lane.
func (b *Bench) ofWidth(kind, bits string, n int) (float64, error) {
	width, err := strconv.Atoi(bits)
	if err != nil {
		return 0, err
	}
	if kind == "conflicts" {
		return b.SharedConflicts(width, n)
	}
	return b.GlobalSectors(width, n)
}

// pair reads two numbers.
func pair(s, separator string) (first, second int, err error) {
	a, b, _ := strings.Cut(s, separator)
	if first, err = strconv.Atoi(a); err == nil {
		second, err = strconv.Atoi(b)
	}
	return first, second, err
}
