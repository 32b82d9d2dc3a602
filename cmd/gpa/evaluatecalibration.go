package main

import (
	"context"
	"path/filepath"

	"gpa/advisor"
)

// evaluateCalibrationHelp is what the help of gpa evaluate says about --calibrate.
const evaluateCalibrationHelp = `With --calibrate, every version of every ladder and every kernel before the change of a pair under DIR is profiled and its advice tried. What
comes out is the table by which reports say where an estimate may lie: of each optimizer, and of all together, between which powers of
its estimates nine in ten what-if runs lie.`

// calibrate counts how the estimates on all kernels come out when they are tried.
func (f *evaluateFlags) calibrate(ctx context.Context, e *env, root string) error {
	var list []advisor.TriedEstimate
	count := func(launch string) error {
		side, err := f.compare.side(ctx, e, launch)
		if err != nil {
			return err
		}
		if err := f.try(ctx, side, ""); err != nil {
			return err
		}
		for i := range side.Launches {
			for _, a := range side.Launches[i].Advice {
				list = append(list, advisor.TriedEstimate{Optimizer: a.Optimizer, Estimated: a.Speedup, Tried: a.Tried})
			}
		}
		return ctx.Err()
	}
	err := eachFile(e, root, ladderFile, "ladder", func(file string) error {
		spec, err := readLadder(file)
		for i := 0; err == nil && i < len(spec.Versions); i++ {
			err = count(filepath.Join(filepath.Dir(file), spec.Versions[i].Version+".yaml"))
		}
		return err
	})
	if err != nil {
		return err
	}
	err = eachFile(e, root, pairFile, "pair", func(file string) error {
		p, err := readPair(file)
		if err != nil {
			return err
		}
		return count(filepath.Join(filepath.Dir(file), p.Before))
	})
	if err != nil {
		return err
	}
	return advisor.WriteCalibration(e.stdout, advisor.Calibrate(list))
}
