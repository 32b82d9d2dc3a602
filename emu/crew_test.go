package emu

import "testing"

// A panic of a worker comes out where the work was shared out, so that the caller of a launch can recover from it.
func TestCrewPanic(t *testing.T) {
	c := newCrew(4, tally{})
	defer c.dismiss()
	for range 100 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			c.each(8, true, func(w *worker, i int) { panic(i) })
		}()
	}
}
