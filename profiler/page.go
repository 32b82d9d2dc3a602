package profiler

import (
	"io"
	"strconv"

	"gpa/cubin"
	"gpa/emu/arch"
)

// PageFacts are the facts of a launch that Nsight Compute's source page lacks. What is 0 is not known.
type PageFacts struct {
	GPU                                      string // as [arch.ByName] takes it; "" for the default one of the cubin's architecture
	Grid, Block                              [3]int
	Registers                                int   // of a thread; 0 for the cubin's
	SharedDynamic                            int   // of a block, bytes
	Period                                   int   // cycles between two samples of an SM
	Cycles                                   int64 // that the launch took
	L2Bytes, DRAMReadBytes, DRAMWrittenBytes int64
}

// ReadPage reads a source page as [ReadCSV] does, completes its launches by the facts, and holds the profile to [Check].
func ReadPage(r io.Reader, module *cubin.File, kernel string, facts PageFacts) (*Profile, error) {
	p, err := ReadCSV(r, module, kernel)
	if err != nil {
		return nil, err
	}
	for _, l := range p.Launches {
		if err := facts.complete(module, l); err != nil {
			return nil, err
		}
	}
	return p, Check(p)
}

// complete enters the facts of a launch.
func (f *PageFacts) complete(module *cubin.File, l *Launch) error {
	gpu := f.GPU
	if gpu == "" {
		gpu = "sm_" + strconv.Itoa(int(module.Arch))
	}
	model, err := arch.ByName(gpu)
	if err != nil {
		return err
	}
	k, err := module.Kernel(l.Kernel)
	if err != nil {
		return err
	}
	l.Grid, l.Block, l.Period = f.Grid, f.Block, f.Period
	facts := &l.Facts
	if facts.Registers = f.Registers; facts.Registers == 0 {
		facts.Registers = k.Registers
	}
	facts.SharedStatic, facts.SharedDynamic, facts.LocalBytes = k.SharedStatic, f.SharedDynamic, k.LocalFrame
	facts.Cycles = f.Cycles
	facts.L2Bytes, facts.DRAMReadBytes, facts.DRAMWrittenBytes = f.L2Bytes, f.DRAMReadBytes, f.DRAMWrittenBytes
	if err := l.SetGPU(model); err != nil {
		return err
	}
	if f.Period == 0 {
		l.Missing = append(l.Missing, MissingPeriod)
	}
	if f.Cycles == 0 {
		l.Missing = append(l.Missing, MissingCycles)
	}
	l.NoteTraffic()
	return nil
}
