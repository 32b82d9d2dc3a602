// Package cuda lets other programs use the emulated GPU through the CUDA driver API. A [Server] writes a libcuda.so.1 (package solib) that
// programs load in place of NVIDIA's, and carries out the calls that they make through it (package wire). Programs run unmodified: [Server.Environment]
// is what makes them find the library.
//
// Every driver function is a row of a table: its name, what its arguments are, what it needs, and the Go function that carries it out
// (function.go; the tables stand in the files of their subjects). What has no row answers CUDA_ERROR_NOT_SUPPORTED and is counted
// ([Server.Unsupported]).
//
// The runtime (libcudart) is more rows in the same table (runtime.go): most are the driver's under another name, the rest turns the program's
// addresses of kernels and variables into the driver's handles.
//
// Each process has device memory of its own: one piece of shared memory (device.go), at the same addresses in the client as far as the client
// may touch it (managed and pinned memory). The modules of a process are machines of package emu over that memory. Kernels run when they
// are launched, one after another in the order in which they were submitted, whatever their streams: a call of a stream or an event
// finds all work done. Whoever uses the package decides how a launch runs ([Options.Launch]): with timing, watched, or for its effect
// only. Time, for events, is that of the emulated GPU: it passes while kernels run and does not otherwise.
//
// A kernel's fault is an error of the context from then on, as on hardware, until the context is destroyed.
package cuda
