package arch

import "testing"

func TestByDevice(t *testing.T) {
	for _, c := range []struct {
		device string
		arch   int
		want   string
		exact  bool
	}{
		{"Tesla T4", 75, "t4", true},
		{"NVIDIA GeForce GTX 1660 SUPER", 75, "gtx1660s", true},
		{"NVIDIA GeForce RTX 2080 Ti", 75, "rtx2080ti", true},
		{"NVIDIA GeForce RTX 2080", 75, "t4", false},
		{"NVIDIA A100-SXM4-40GB", 80, "a100", true},
		{"NVIDIA GeForce RTX 3090", 86, "rtx3090", true},
		{"NVIDIA GeForce RTX 3090 Ti", 86, "rtx3090", false},
		{"NVIDIA GeForce RTX 4070", 89, "rtx4070", true},
		{"NVIDIA GeForce RTX 4070 Laptop GPU", 89, "rtx4090", false},
		{"NVIDIA H100 PCIe", 90, "h100pcie", true},
		{"NVIDIA H200", 90, "h200", true},
		{"", 70, "v100", false},
	} {
		m, exact, err := ByDevice(c.device, c.arch)
		if err != nil || m.Name != c.want || exact != c.exact {
			t.Errorf("ByDevice(%q, %d) = %v, %v, %v, want %s, %v", c.device, c.arch, m.Name, exact, err, c.want, c.exact)
		}
	}
	if _, _, err := ByDevice("Tesla K80", 37); err == nil {
		t.Error("sm_37 has a model")
	}
}
