package cubin

import (
	"path"
	"regexp"
	"strings"
)

// toolkitFolders are those of headers that come with the CUDA Toolkit or the host's compiler.
var toolkitFolders = []string{"/usr/include/", "/usr/lib/", "/include/c++/", "/include/crt/", "/cooperative_groups/", "/cuda/std/", "/libcudacxx/", "/cccl/", "/include/cuda/", "/cub/", "/thrust/", "/triton/language/", "/numba/cuda/"}

// toolkitHeaders are the headers of the toolkit with device code, whatever folder they lie in.
var toolkitHeaders = regexp.MustCompile(`^(sm_[0-9]+_.*|math_functions.*|device_(functions|atomic_functions|double_functions).*|cuda_(fp|bf)[0-9]+|cuda_(awbarrier|pipeline).*|cooperative_groups.*|m?ma|vector_functions)\.(h|hpp|cuh|inl)$`)

// OfToolkit reports whether a source file is a header of the CUDA Toolkit or of the host's compiler, which users call and do not change.
func OfToolkit(file string) bool {
	for _, folder := range toolkitFolders {
		if strings.Contains(file, folder) {
			return true
		}
	}
	return toolkitHeaders.MatchString(path.Base(file))
}

// OwnFrame returns the index of the innermost frame of an inline stack that is not of a header of the toolkit, 0 where all are.
func OwnFrame(frames []Frame) int {
	for i := range frames {
		if !OfToolkit(frames[i].File) {
			return i
		}
	}
	return 0
}
