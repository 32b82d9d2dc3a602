package arch

import (
	"strings"
	"testing"
)

// A GPU of one's own is a model with other figures; its name says which, and finds it again.
func TestBoards(t *testing.T) {
	m, err := ByName("rtx3090,sms=68,dram=760,bus=320,l2=5,clock=1440")
	if err != nil {
		t.Fatal(err)
	}
	own, _ := ByName("rtx3090")
	if m.SMs.Int() != 68 || m.DRAM.Peak.Value != 760e9 || m.L2.Size.Value != 5<<20 || m.Clock.Value != 1440e6 || m.DRAM.Channels.Int() != 20 || m.L2.Slices.Int() != 40 {
		t.Errorf("%+v", m)
	}
	if share, want := m.DRAM.Achieved.Value/m.DRAM.Peak.Value, own.DRAM.Achieved.Value/own.DRAM.Peak.Value; share < want*.999 || share > want*1.001 {
		t.Errorf("%v of the peak is reached, of the model's %v", share, want)
	}
	again, err := ByName(m.Name)
	if err != nil || again.Name != m.Name || again.SMs.Value != m.SMs.Value || again.DRAM.Peak.Value != m.DRAM.Peak.Value {
		t.Errorf("%q: %v, %+v", m.Name, err, again)
	}
	if own.SMs.Int() != 82 {
		t.Error("the model itself has changed")
	}
	if same := own.As(Board{SMs: 82, Bus: 384, L2: 6 << 20, Peak: 936.1e9, Memory: 24 << 30}); same.Name != own.Name || same.DRAM.Channels.Value != own.DRAM.Channels.Value {
		t.Errorf("the board of the model is %q", same.Name)
	}
	for name, says := range map[string]string{
		"rtx3090,sm=68": `"sm" is no figure of a GPU; there are sms (SMs)`, "rtx3090,sms=0": "takes 1 to 1024", "rtx3090,sms=2.5": "no whole number", "rtx3090,dram=x": "dram=x", "rtx3090,": "no figure",
		"gpu,sms=3": `GPU "gpu" is not known`, "rtx3090,l2=NaN": "l2=NaN",
	} {
		if _, err := ByName(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range Names() {
		m, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if bus := m.busWidth(); bus != map[string]float64{
			"v100": 4096, "titanv": 3072, "t4": 256, "gtx1660s": 192, "rtx2080ti": 352, "a100": 5120, "rtx3090": 384, "a40": 384, "rtxa6000": 384, "rtx4090": 384, "l40": 384, "rtx4070": 192,
			"h100": 5120, "h100pcie": 5120, "h200": 6144, "gh200": 6144, "b200": 8192, "rtx5090": 512,
		}[name] {
			t.Errorf("%s has a memory bus of %v bits", name, bus)
		}
	}
}
