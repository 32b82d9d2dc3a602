//go:build !amd64

package emu

func fastestMMAOps() *mmaOps { return portableMMAOps() }
