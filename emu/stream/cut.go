package stream

import "errors"

// Cut leaves out rounds of a loop: of Every there is one left, those that come first and the last one. What is left stands for all where rounds are
// alike, in a fraction of the time. Warps that meet at barriers in the loop have to go through as many rounds.
type Cut struct {
	single
	Loop  Loop
	Every int
}

// Apply drops the rounds.
func (x *Cut) Apply(_ Program, blocks []*Block) ([]*Block, error) {
	b := blocks[0]
	before := arrivals(b)
	for w := range b.Warps {
		old := &b.Warps[w]
		gone := make([]bool, len(old.Events))
		for _, s := range segments(old.Events, []Loop{x.Loop}) {
			last := len(s.rounds) - 1
			if keep := (len(s.rounds) + x.Every - 1) / x.Every; s.loop >= 0 && keep <= last {
				for i := s.rounds[keep-1]; i < s.rounds[last]; i++ {
					gone[i] = true
				}
			}
		}
		var values []Value
		for i, v := range old.Values {
			if !gone[i] {
				values = append(values, v)
			}
		}
		drop(old, gone)
		old.Values = values
	}
	after := arrivals(b)
	for i := range before {
		if after[i] != before[i] && after[i] != (gateUse{}) {
			return nil, errors.New("warps that meet in a loop go through different numbers of rounds")
		}
	}
	return blocks, nil
}

// A gateUse is how many events arrive at a gate, and wait for it.
type gateUse struct{ arrive, wait int }

func arrivals(b *Block) []gateUse {
	list := make([]gateUse, len(b.Gates))
	for w := range b.Warps {
		for i := range b.Warps[w].Events {
			e := &b.Warps[w].Events[i]
			if e.Kind != RefSync {
				continue
			}
			if s := &b.Syncs[e.Ref]; s.Arrives >= 0 {
				list[s.Arrives].arrive++
			}
			if s := &b.Syncs[e.Ref]; s.Waits >= 0 {
				list[s.Waits].wait++
			}
		}
	}
	return list
}
