package evaluation

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"gpa"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/launch"
	"gpa/reports"
)

const (
	sampledWeight = 1 << 22                      // warp instructions and sectors after which timing of a launch ends here
	sampledLaunch = emu.DefaultExtrapolation / 2 // warp instructions from which on it is timed in portions
	regularLanes  = 0.9                          // of a warp, from which on a launch is regular
)

// Sampling holds the launches of the launch files under a folder, timed in part, against the whole launches. Where ctx ends, what there is until then
// is the result.
func (v *Evaluator) Sampling(ctx context.Context, root string) (*reports.SamplingEvaluation, error) {
	files, err := launchFiles(root)
	if err != nil {
		return nil, err
	}
	x := new(reports.SamplingEvaluation)
	for i, file := range files {
		end := v.stage(fmt.Sprintf("launch file %d of %d", i+1, len(files)))
		list, err := v.sampling(ctx, root, file)
		end()
		var fault *emu.Fault
		switch {
		case ctx.Err() != nil:
		case err != nil && !errors.As(err, &fault):
			return nil, fmt.Errorf("%s: %w", file, err)
		case err == nil:
			x.Launches = append(x.Launches, list...)
		}
	}
	x.Sum()
	return x, nil
}

// launchFiles lists the launch files under a folder.
func launchFiles(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".yaml" {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// sampling runs the launches of a file whole and in part.
func (v *Evaluator) sampling(ctx context.Context, root, file string) (list []reports.SampledLaunch, err error) {
	r, err := gpa.Load(file, gpa.LoadOptions{GPU: v.GPU})
	if err != nil {
		return nil, err
	}
	name, err := filepath.Rel(root, strings.TrimSuffix(file, filepath.Ext(file)))
	if err != nil {
		return nil, err
	}
	x := emu.Extrapolation{Most: sampledWeight}
	if v.Options.Portions {
		x = emu.Extrapolation{After: sampledLaunch, Portions: true}
	}
	part, err := timedLaunches(ctx, r, x)
	if err != nil {
		return nil, err
	}
	whole := make([]*emu.Result, len(part))
	for i := range part {
		if part[i].TimedBlocks == 0 {
			continue
		}
		if whole[i] == nil {
			if whole, err = timedLaunches(ctx, r, emu.Extrapolation{Off: true}); err != nil {
				return nil, err
			}
		}
		list = append(list, sampledLaunchOf(fmt.Sprintf("%s:%d", filepath.ToSlash(name), i), r.GPU, whole[i], part[i]))
	}
	return list, nil
}

// timedLaunches runs every launch of a file once.
func timedLaunches(ctx context.Context, r *gpa.Target, x emu.Extrapolation) (results []*emu.Result, err error) {
	m, err := emu.New(r.GPU, r.Module, emu.Options{Timing: emu.TimingFull, MaxInstructions: emu.DefaultMaxInstructions, Heap: r.File.Heap,
		HostMemory: emu.FreeMemory, Extrapolation: x, Stdout: io.Discard})
	if err != nil {
		return nil, err
	}
	s, err := launch.NewSession(ctx, r.File, m)
	if err != nil {
		return nil, err
	}
	for i := range r.File.Launches {
		result, err := s.Vary(ctx, i, launch.Variation{})
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// sampledLaunchOf holds what was timed in part against the whole launch.
func sampledLaunchOf(name string, model *arch.Model, whole, part *emu.Result) reports.SampledLaunch {
	hash := fnv.New32a()
	hash.Write([]byte(whole.Facts.Kernel.Demangled)) // never fails
	blocks := float64(whole.Facts.Grid[0] * whole.Facts.Grid[1] * whole.Facts.Grid[2])
	return reports.SampledLaunch{
		Launch: name, GPU: model.Name, HeldOut: hash.Sum32()>>16%2 == 1,
		Irregular:    float64(whole.ThreadInstructions) < regularLanes*model.Limits.WarpSize.Value*float64(whole.WarpInstructions),
		Waves:        blocks / float64(whole.Facts.Occupancy.BlocksPerSM*model.SMs.Int()),
		Instructions: whole.WarpInstructions, Cycles: whole.Cycles,
		Timed: float64(part.TimedBlocks) / blocks, Error: float64(part.Cycles)/float64(whole.Cycles) - 1, Bound: part.ErrorBound,
	}
}
