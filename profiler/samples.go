package profiler

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gpa/cubin"
	"gpa/emu/arch"
)

// The samples form is how any collector hands samples over, one JSON object; docs/import.md describes it. It names functions and
// offsets in them, as CUPTI's PC sampling does, so that a collector needs to know nothing of the cubin.
const (
	samplesFormat  = "gpa-samples"
	samplesVersion = 1
)

type samplesFile struct {
	Format   string          `json:"format"`
	Version  int             `json:"version"`
	Launches []samplesLaunch `json:"launches"`
}

type samplesLaunch struct {
	Kernel         string           `json:"kernel"`
	GPU            string           `json:"gpu,omitempty"`
	Grid           []int            `json:"grid"`
	Block          []int            `json:"block"`
	Registers      int              `json:"registers,omitempty"`
	SharedStatic   int              `json:"shared_static,omitempty"`
	SharedDynamic  int              `json:"shared_dynamic,omitempty"`
	LocalBytes     int              `json:"local_bytes,omitempty"`
	Cycles         int64            `json:"cycles,omitempty"`
	SMActiveCycles int64            `json:"sm_active_cycles,omitempty"`
	WarpCycles     int64            `json:"warp_active_cycles,omitempty"`
	L2Bytes        int64            `json:"l2_bytes,omitempty"`
	DRAMRead       int64            `json:"dram_read_bytes,omitempty"`
	DRAMWritten    int64            `json:"dram_written_bytes,omitempty"`
	ClockHz        float64          `json:"clock_hz,omitempty"`
	SMs            int              `json:"sms,omitempty"`
	Period         int              `json:"period,omitempty"`
	Samples        []samplesSample  `json:"samples"`
	Counters       []samplesCounter `json:"counters,omitempty"`
	Missing        []string         `json:"missing,omitempty"`
}

type samplesSample struct {
	Function string `json:"function,omitempty"`
	PC       uint64 `json:"pc"`
	Reason   string `json:"reason"`
	Count    int64  `json:"count"`
	Latency  *int64 `json:"latency,omitempty"`
}

type samplesCounter struct {
	Function              string `json:"function,omitempty"`
	PC                    uint64 `json:"pc"`
	Executions            *int64 `json:"executions,omitempty"`
	ThreadExecutions      *int64 `json:"thread_executions,omitempty"`
	GlobalSectors         *int64 `json:"global_sectors,omitempty"`
	GlobalSectorsIdeal    *int64 `json:"global_sectors_ideal,omitempty"`
	SharedWavefronts      *int64 `json:"shared_wavefronts,omitempty"`
	SharedWavefrontsIdeal *int64 `json:"shared_wavefronts_ideal,omitempty"`
	BranchTaken           *int64 `json:"branch_taken,omitempty"`
}

// ReadSamples reads the samples form. The launches are of kernels of module. What a launch lacks is noted in Missing; it passes
// [Check].
func ReadSamples(r io.Reader, module *cubin.File) (*Profile, error) {
	var file samplesFile
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	switch _, err := d.Token(); {
	case !errors.Is(err, io.EOF):
		return nil, errors.New("there is more after the object")
	case file.Format != samplesFormat:
		return nil, fmt.Errorf("the format is %q, not %q", file.Format, samplesFormat)
	case file.Version != samplesVersion:
		return nil, fmt.Errorf("version %d is not known, only %d", file.Version, samplesVersion)
	case len(file.Launches) == 0:
		return nil, errors.New("there is no launch in it")
	}
	p := &Profile{Modules: []*cubin.File{module}}
	for i := range file.Launches {
		l, err := file.Launches[i].launch(module)
		if err != nil {
			return nil, fmt.Errorf("launch %d, kernel %s: %w", i, file.Launches[i].Kernel, err)
		}
		p.Launches = append(p.Launches, l)
	}
	return p, Check(p)
}

// launch makes a launch of the file's.
func (s *samplesLaunch) launch(module *cubin.File) (*Launch, error) {
	k, err := module.Kernel(s.Kernel)
	if err != nil {
		return nil, err
	}
	l := &Launch{Kernel: k.Name, Period: s.Period, Missing: s.Missing}
	if l.Grid, err = sizes(s.Grid); err != nil {
		return nil, fmt.Errorf("grid: %w", err)
	}
	if l.Block, err = sizes(s.Block); err != nil {
		return nil, fmt.Errorf("block: %w", err)
	}
	for _, step := range []func(l *Launch, module *cubin.File, k *cubin.Kernel) error{s.facts, s.samples, s.counters} {
		if err := step(l, module, k); err != nil {
			return nil, err
		}
	}
	l.NoteTraffic()
	return l, nil
}

// sizes reads one to three dimensions.
func sizes(list []int) ([3]int, error) {
	size := [3]int{1, 1, 1}
	if len(list) < 1 || len(list) > 3 {
		return size, fmt.Errorf("%d dimensions, not one to three", len(list))
	}
	for i, n := range list {
		if n < 1 || n > 1<<31-1 {
			return size, fmt.Errorf("%d is not a size", n)
		}
		size[i] = n
	}
	return size, nil
}

// facts enters the facts of the launch: those of the cubin and of the GPU's model where the file does not say.
func (s *samplesLaunch) facts(l *Launch, module *cubin.File, k *cubin.Kernel) error {
	model, err := s.model(l, module)
	if err != nil {
		return err
	}
	either := func(n, otherwise int) int {
		if n != 0 {
			return n
		}
		return otherwise
	}
	f := &l.Facts
	f.Registers, f.SharedStatic = either(s.Registers, k.Registers), either(s.SharedStatic, k.SharedStatic)
	f.SharedDynamic, f.LocalBytes = s.SharedDynamic, either(s.LocalBytes, k.LocalFrame)
	f.Cycles, f.SMActiveCycles, f.WarpActiveCycles, f.ClockHz = s.Cycles, s.SMActiveCycles, s.WarpCycles, s.ClockHz
	f.L2Bytes, f.DRAMReadBytes, f.DRAMWrittenBytes = s.L2Bytes, s.DRAMRead, s.DRAMWritten
	if err := checkFacts(l); err != nil {
		return err
	}
	for _, c := range []struct {
		missing bool
		what    string
	}{{s.Cycles == 0, MissingCycles}, {s.Period == 0, MissingPeriod}} {
		if c.missing {
			l.Missing = append(l.Missing, c.what)
		}
	}
	return l.SetGPU(model)
}

// maxSMs bounds the size of a GPU; products with counts stay far from overflowing.
const maxSMs = 1 << 16

// model finds the GPU: a model's name, the name that the driver gives, or the default one of the cubin's architecture.
func (s *samplesLaunch) model(l *Launch, module *cubin.File) (*arch.Model, error) {
	if s.SMs < 0 || s.SMs > maxSMs {
		return nil, fmt.Errorf("%d is not a number of SMs", s.SMs)
	}
	model, err := arch.ByName(s.GPU)
	if err != nil {
		exact := false
		if model, exact, err = arch.ByDevice(s.GPU, int(module.Arch)); err != nil {
			return nil, err
		}
		if !exact && s.GPU != "" {
			l.NoteModel(s.GPU, model.Name)
		}
	}
	if s.SMs > 0 {
		model.SMs.Value = float64(s.SMs)
	}
	return model, nil
}
