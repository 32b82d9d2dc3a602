package cuda

import "strings"

// Environment returns an environment in which programs find the library: env with the variables that the loader (ld.so(8)), Numba and Triton
// look at, and NVTX where its ranges are asked for.
func (s *Server) Environment(env []string) []string {
	path := s.folder
	for _, v := range env {
		if old, ok := strings.CutPrefix(v, "LD_LIBRARY_PATH="); ok && old != "" {
			path = s.folder + ":" + old
		}
	}
	env = append(append([]string(nil), env...),
		"LD_LIBRARY_PATH="+path,
		"NUMBA_CUDA_DRIVER="+s.Library(),
		"TRITON_LIBCUDA_PATH="+s.folder,
	)
	if s.options.Ranges {
		env = append(env, "NVTX_INJECTION64_PATH="+s.Library())
	}
	return env
}
