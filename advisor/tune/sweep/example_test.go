package sweep_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"gpa/advisor/tune/sweep"
	"gpa/profiler/store"
)

// A sweep over two GPUs, with its variants in this process, and the same again from the store.
func Example() {
	dir, err := os.MkdirTemp("", "sweep-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "vecadd.yaml")
	if err := os.WriteFile(file, []byte("kernel: vecadd\naxes: {arch: [v100, a100]}\n"), 0o666); err != nil {
		log.Fatal(err)
	}
	results, err := store.Open(filepath.Join(dir, "store"))
	if err != nil {
		log.Fatal(err)
	}
	s, err := sweep.Open(file, results)
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		if err := s.Run(context.Background(), sweep.Options{Workers: sweep.Workers{Slots: 1}}); err != nil {
			log.Fatal(err)
		}
		r, err := s.Results()
		if err != nil {
			log.Fatal(err)
		}
		c := r.Counts()
		fmt.Println(c.Done, "variants,", c.Ran, "ran,", c.Cached, "from the store")
	}
	// Output:
	// 2 variants, 2 ran, 0 from the store
	// 2 variants, 0 ran, 2 from the store
}
