package cuda

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// Environment returns an environment in which programs find the libraries: env with the variables that the loader (ld.so(8)), Numba, Triton
// and CuTe DSL look at, and NVTX where its ranges are asked for.
func (s *Server) Environment(env []string) []string {
	env = append(append([]string(nil), env...), Variables(s.folder, env)...)
	if s.options.Ranges {
		env = append(env, "NVTX_INJECTION64_PATH="+s.Library())
	}
	return env
}

// Exports are the [Variables] as commands of a shell.
func Exports(folder string, env []string) string {
	var out strings.Builder
	for _, v := range Variables(folder, env) {
		name, value, _ := strings.Cut(v, "=")
		fmt.Fprintf(&out, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	return out.String()
}

// Variables are those by which programs find the libraries in a folder, in front of what env has the loader look at.
func Variables(folder string, env []string) []string {
	path := folder
	for _, v := range env {
		if old, ok := strings.CutPrefix(v, "LD_LIBRARY_PATH="); ok && old != "" && old != folder && !strings.HasPrefix(old, folder+":") {
			path = folder + ":" + old
		} else if ok && old != "" {
			path = old
		}
	}
	return []string{
		"LD_LIBRARY_PATH=" + path,
		"NUMBA_CUDA_DRIVER=" + filepath.Join(folder, libraryName),
		"TRITON_LIBCUDA_PATH=" + folder,
		"CUTE_DSL_LIBS=" + filepath.Join(folder, cuteName),
	}
}

// SharedFolder is the folder of the server that all programs of a user can use: in the user's runtime folder, or in that for temporary files.
func SharedFolder() string {
	if parent := os.Getenv("XDG_RUNTIME_DIR"); parent != "" {
		return filepath.Join(parent, "gpa-serve")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("gpa-serve-%d", os.Getuid()))
}

// ErrNoServer says that nobody serves in a folder.
var ErrNoServer = errors.New("no server is running")

// Serving says whether a server of the user's is at work in a folder. Another user's folder is an error, as programs load what lies in it.
func Serving(folder string) error {
	switch err := ownFolder(folder); {
	case errors.Is(err, os.ErrNotExist):
		return ErrNoServer
	case err != nil:
		return err
	}
	c, err := net.Dial("unix", filepath.Join(folder, socketName))
	if err != nil {
		return ErrNoServer
	}
	return c.Close()
}
