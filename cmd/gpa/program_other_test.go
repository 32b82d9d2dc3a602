package main

import "os"

// otherProgram runs what this program is when a test has started it as another one; nil where programs do not run on the emulated GPU.
var otherProgram func(name string)

// runOther runs it, below gpa, which does not hand the variable on that makes it gpa.
func runOther() {
	if name := os.Getenv("GPA_TEST_PROGRAM"); name != "" && otherProgram != nil && os.Getenv("TRITON_LIBCUDA_PATH") != "" {
		otherProgram(name)
	}
}
