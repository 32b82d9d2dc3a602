package main

import (
	"os"

	"github.com/spf13/pflag"

	"gpa/profiler/store"
)

// storeVariable names the folder of the store where no flag does.
const storeVariable = "GPA_STORE"

// storeFlags say where results are kept from run to run.
type storeFlags struct {
	dir string
	not bool
}

func (f *storeFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "store", "", "keep results in `DIR`, and take from it what was computed before (default: $"+storeVariable+", or else nothing is kept)")
	flags.BoolVar(&f.not, "no-cache", false, "compute again what is in the store; a result that is not that in the store is an error")
}

// open opens the store, nil for none.
func (f *storeFlags) open() (*store.Folder, error) {
	dir := f.dir
	if dir == "" {
		dir = os.Getenv(storeVariable)
	}
	if dir == "" {
		if f.not {
			return nil, usagef("--no-cache: there is no store, which --store names")
		}
		return nil, nil
	}
	return store.Open(dir)
}
