package advisor

import (
	"strings"
	"testing"
)

// TestTritonWords holds that every optimizer has words for Triton's authors, with one place, and none of CUDA C++.
func TestTritonWords(t *testing.T) {
	for _, o := range Optimizers() {
		words := tritonWords[o.Name()]
		if strings.Count(words, "%s") != 1 || strings.Count(words, "%") != 1 {
			t.Errorf("%s: %q does not have one place", o.Name(), words)
		}
		for _, w := range []string{"__", "float4", "#pragma", "-maxrregcount", "threadIdx"} {
			if strings.Contains(words, w) {
				t.Errorf("%s speaks of %s", o.Name(), w)
			}
		}
	}
	if len(tritonWords) != len(Optimizers()) {
		t.Errorf("%d optimizers have words, there are %d", len(tritonWords), len(Optimizers()))
	}
}
