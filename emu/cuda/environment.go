package cuda

import "strings"

// Environment returns an environment in which programs find the library: env with the variables that the loader (ld.so(8)), Numba and Triton
// look at.
func (s *Server) Environment(env []string) []string {
	path := s.folder
	for _, v := range env {
		if old, ok := strings.CutPrefix(v, "LD_LIBRARY_PATH="); ok && old != "" {
			path = s.folder + ":" + old
		}
	}
	return append(append([]string(nil), env...),
		"LD_LIBRARY_PATH="+path,
		"NUMBA_CUDA_DRIVER="+s.Library(),
		"TRITON_LIBCUDA_PATH="+s.folder,
	)
}
