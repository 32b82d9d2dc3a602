//go:build !amd64

package emu

func fastestOps() *vectorOps { return portableOps() }
