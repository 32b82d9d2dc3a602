//go:build !(linux && (amd64 || arm64))

package solib

func clientCode() ([]byte, error) { return nil, ErrPlatform }
