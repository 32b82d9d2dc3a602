package advisor

import "gpa/blamer"

// Input is what optimizers see.
type Input struct {
	Blame *blamer.Result
}
