package profiler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"gpa/cubin"
)

// WriteSamples writes the launches of one module of the profile in the samples form, which [ReadSamples] reads.
func WriteSamples(w io.Writer, p *Profile, module int) error {
	file := samplesFile{Format: samplesFormat, Version: samplesVersion}
	for i, l := range p.Launches {
		if l.Module != module {
			continue
		}
		out, err := samplesOf(p.Modules[module], l)
		if err != nil {
			return fmt.Errorf("launch %d: %w", i, err)
		}
		file.Launches = append(file.Launches, out)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(file)
}

func samplesOf(module *cubin.File, l *Launch) (samplesLaunch, error) {
	f := &l.Facts
	out := samplesLaunch{Kernel: l.Kernel, GPU: l.GPU, Grid: l.Grid[:], Block: l.Block[:], Registers: f.Registers, SharedStatic: f.SharedStatic,
		SharedDynamic: f.SharedDynamic, LocalBytes: f.LocalBytes, Cycles: f.Cycles, SMActiveCycles: f.SMActiveCycles, WarpCycles: f.WarpActiveCycles,
		L2Bytes: f.L2Bytes, DRAMRead: f.DRAMReadBytes, DRAMWritten: f.DRAMWrittenBytes, ClockHz: f.ClockHz,
		SMs: f.SMs, Period: l.Period, Samples: []samplesSample{}}
	for i := range l.Samples {
		s := &l.Samples[i]
		name, offset, err := functionAt(module, s.Code, s.PC)
		if err != nil {
			return out, err
		}
		out.Samples = append(out.Samples, samplesSample{Function: name, PC: offset, Reason: s.Reason.String(), Count: s.Count, Latency: &s.Latency})
	}
	for i := range l.PCs {
		c := &l.PCs[i]
		name, offset, err := functionAt(module, c.Code, c.PC)
		if err != nil {
			return out, err
		}
		out.Counters = append(out.Counters, samplesCounter{Function: name, PC: offset, Executions: &c.Executions, ThreadExecutions: &c.ThreadExecutions,
			GlobalSectors: &c.GlobalSectors, GlobalSectorsIdeal: &c.GlobalSectorsIdeal, SharedWavefronts: &c.SharedWavefronts,
			SharedWavefrontsIdeal: &c.SharedWavefrontsIdeal, BranchTaken: &c.BranchTaken})
	}
	return out, nil
}

// functionAt names the function that holds an instruction, and the offset in it.
func functionAt(module *cubin.File, code int, pc uint64) (string, uint64, error) {
	if code >= 0 && code < len(module.Codes) {
		for _, f := range module.Codes[code].Functions {
			if pc >= f.Offset && pc-f.Offset < f.Size {
				return f.Name, pc - f.Offset, nil
			}
		}
	}
	return "", 0, fmt.Errorf("no function holds %#x of section %d", pc, code)
}

// Write writes the samples of a profile in a form that can be read again: as Nsight Compute's source page ([ReadCSV]), or as gpa's own JSON
// ([ReadSamples]), which is of one module.
func Write(w io.Writer, p *Profile, asJSON bool) error {
	var out bytes.Buffer
	switch {
	case asJSON && len(p.Modules) != 1:
		return fmt.Errorf("the result is of %d cubins, the form of one", len(p.Modules))
	case asJSON:
		if err := WriteSamples(&out, p, 0); err != nil {
			return err
		}
	default:
		for _, l := range p.Launches {
			if err := WriteCSV(&out, p.Modules[l.Module], l); err != nil {
				return err
			}
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}
