package arch

import (
	"fmt"
	"strings"
)

// ByDevice finds the model of a GPU by the name that its driver gives it, as "Tesla T4" or "NVIDIA A100-SXM4-40GB", among those of
// its architecture (70 for sm_70). Exact is false where there is none: the model is then the default one of the architecture.
func ByDevice(device string, arch int) (m *Model, exact bool, err error) {
	want := productWords(device)
	best, length := -1, 0
	for i, l := range labels() {
		if l.arch == arch && len(l.product) > length && beginsWith(want, l.product) {
			best, length = i, len(l.product)
		}
	}
	if best >= 0 {
		return makers[best](), true, nil
	}
	m, err = ByName(fmt.Sprintf("sm_%d", arch))
	return m, false, err
}

// productWords are the words of a product's name that tell it from others.
func productWords(name string) []string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == ' ' || r == '-' || r == '_' })
	kept := words[:0]
	for _, w := range words {
		switch {
		case w == "nvidia" || w == "tesla" || w == "geforce":
		case strings.HasSuffix(w, "gb") || strings.HasPrefix(w, "sxm") || strings.HasPrefix(w, "hbm"): // variants of a board
		default:
			kept = append(kept, w)
		}
	}
	return kept
}

// beginsWith says whether a name consists of the words of a product, but for what says which variant of it, as a form
// factor or a size of memory: another word that names a product of its own, as Ti, does not.
func beginsWith(name, product []string) bool {
	if len(product) == 0 || len(name) < len(product) {
		return false
	}
	for i, w := range product {
		if name[i] != w {
			return false
		}
	}
	if len(name) == len(product) {
		return true
	}
	switch next := name[len(product)]; next {
	case "ti", "super", "d", "laptop", "mobile", "max", "ada":
		return false
	default:
		return true
	}
}
