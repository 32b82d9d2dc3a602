package evaluation

import (
	"context"
	"path/filepath"

	"gpa"
	"gpa/advisor"
)

// Calibrate counts how the estimates on every version of every ladder and on every kernel before the change of a pair under a folder come out when
// they are tried.
func (v *Evaluator) Calibrate(ctx context.Context, root string) ([]advisor.TriedEstimate, error) {
	var list []advisor.TriedEstimate
	count := func(launch string) error {
		side, err := v.result(ctx, launch, &gpa.TryOptions{})
		if err != nil {
			return err
		}
		for i := range side.Launches {
			for _, a := range side.Launches[i].Advice {
				list = append(list, advisor.TriedEstimate{Optimizer: a.Optimizer, Estimated: a.Speedup, Tried: a.Tried})
			}
		}
		return ctx.Err()
	}
	err := v.eachFile(root, LadderFile, "ladder", func(file string) error {
		spec, err := readLadder(file)
		for i := 0; err == nil && i < len(spec.Versions); i++ {
			err = count(filepath.Join(filepath.Dir(file), spec.Versions[i].Version+".yaml"))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, v.eachFile(root, PairFile, "pair", func(file string) error {
		p, err := ReadPair(file)
		if err != nil {
			return err
		}
		return count(filepath.Join(filepath.Dir(file), p.Before))
	})
}
