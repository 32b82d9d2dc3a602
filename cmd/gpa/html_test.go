package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpa/emu/convergence"
	"gpa/kernels"
)

// clickAll uses a page as a reader would and tells what has happened: for each instruction that waits for others the arrows that a click
// on it has drawn, for each hot source line whether it leads to instructions, and the slowest answer to a click in milliseconds.
const clickAll = `(() => {
  const out = { rows: 0, wrong: [], slowest: 0, lines: 0 };
  for (const row of document.querySelectorAll("tr[data-defs]")) {
    const want = row.dataset.defs.split(" ").map(p => p.split("=")[0]).filter(id => id !== row.id);
    const began = performance.now();
    row.querySelector("code").click();
    document.body.getBoundingClientRect();
    out.slowest = Math.max(out.slowest, performance.now() - began);
    const got = [...document.querySelectorAll("tr.def")].map(r => r.id);
    const arrows = row.closest(".kernel").querySelectorAll(".arrows path").length;
    if (got.length !== new Set(want).size || arrows !== want.length || want.some(id => !got.includes(id))) out.wrong.push(row.id);
    out.rows++;
  }
  for (const row of document.querySelectorAll(".source tr[tabindex]")) {
    row.querySelector("code").click();
    if (!document.querySelector(".sass tr.picked")) out.wrong.push(row.id);
    out.lines++;
  }
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  if (document.querySelector("tr.picked, tr.def")) out.wrong.push("escape");
  return out;
})()`

// A clicked is what clickAll returns.
type clicked struct {
	Wrong       []string
	Rows, Lines int
	Slowest     float64 // milliseconds
}

// maxPage is the most bytes that a page may take.
const maxPage = 3 << 20

// TestHTMLInBrowser opens the page of every built-in kernel, clicks every instruction that waits for others and every hot source
// line, and sees that the arrows lead to the right rows and that the console stays empty.
func TestHTMLInBrowser(t *testing.T) {
	b := openBrowser(t)
	for _, name := range kernels.Names() {
		t.Run(name, func(t *testing.T) {
			b.t = t
			file := profiledBuiltin(t, name).page
			paint := b.open("file://" + file)
			var got clicked
			b.evaluate(clickAll, &got)
			if len(got.Wrong) > 0 || got.Rows == 0 || got.Lines == 0 {
				t.Errorf("%+v", got)
			}
			var models []string
			b.evaluate(`[...document.querySelectorAll("table.plain td:first-child")].map(c => c.textContent)`, &models)
			if len(models) > 0 && !slices.Equal(models, convergence.Names()) {
				t.Errorf("the table of re-convergence models has %q", models)
			}
			if diverging := name == "bfs" || name == "suffix_tree"; diverging != (len(models) > 0) && (diverging || name == "vecadd") {
				t.Errorf("%d models", len(models))
			}
			var order string
			b.evaluate(`[...document.querySelectorAll("p.headline, ol.advice, dl.facts, div.code")].map(e => e.className).join(" ")`, &order)
			if strings.ReplaceAll(order, "advice ", "") != "headline facts code" {
				t.Errorf("the page has %s", order)
			}
			b.holdsWidth()
			b.quietConsole()
			t.Logf("%d bytes, first paint after %.0f ms, %d instructions and %d lines clicked, the slowest answered in %.1f ms",
				pageSize(t, file), paint, got.Rows, got.Lines, got.Slowest)
		})
	}
	b.t = t
}

// holdsWidth fails where the page scrolls sideways in a narrow window or in a wide one.
func (b *browser) holdsWidth() {
	b.t.Helper()
	for _, width := range []int{480, 1024, 2560} {
		b.resize(width, 1000)
		var over []string
		b.evaluate(fmt.Sprintf(`document.documentElement.scrollWidth > %[1]d ? ["the page", ...[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > %[1]d && !e.closest(".pane, .hotspots, .plain, .lines, .sides")).map(e => e.tagName + "." + e.className).slice(0, 5)] : []`, width), &over)
		if len(over) > 0 {
			b.t.Errorf("at %d pixels these are wider: %q", width, over)
		}
	}
	b.resize(1400, 1000)
}

// clickTwins clicks every line of a comparison that has a counterpart and returns how many, and those that do not lead to it.
const clickTwins = `(() => {
  const out = { rows: 0, wrong: [] };
  for (const row of document.querySelectorAll("tr[data-twin]")) {
    row.querySelector("code").click();
    const picked = [...document.querySelectorAll("tr.picked")].map(r => r.id);
    if (picked.length !== 2 || !picked.includes(row.dataset.twin)) out.wrong.push(row.id);
    out.rows++;
  }
  return out;
})()`

// TestCompareInBrowser opens comparisons and clicks their lines.
func TestCompareInBrowser(t *testing.T) {
	b := openBrowser(t)
	for _, pair := range [][2]string{
		{"../../kernels/basic/transpose_naive", "../../kernels/basic/transpose_tiled"},
		{"hotspot", "../../kernels/stencil/hotspot_float"}, {"vecadd", "vecadd"},
	} {
		file := filepath.Join(t.TempDir(), "compared.html")
		if _, stderr, status := invoke(t, "compare", pair[0], pair[1], "--html", file); status != exitDone {
			t.Fatalf("%v: status %d: %s", pair, status, stderr)
		}
		paint := b.open("file://" + file)
		var got clicked
		b.evaluate(clickTwins, &got)
		if got.Rows == 0 || len(got.Wrong) > 0 {
			t.Errorf("%v: %+v", pair, got)
		}
		b.holdsWidth()
		b.quietConsole()
		t.Logf("%v: %d bytes, first paint after %.0f ms, %d lines clicked", pair, pageSize(t, file), paint, got.Rows)
	}
}

func pageSize(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxPage {
		t.Errorf("the page takes %d bytes", info.Size())
	}
	return info.Size()
}

// longKernel is text SASS of so many loads and additions, each addition waiting for the load before it.
func longKernel(instructions int) string {
	var text strings.Builder
	text.WriteString(".arch sm_70\n.kernel long\n.param in, 8\nMOV R2, c[0x0][in]\nMOV R3, c[0x0][in+4]\n")
	for i := 0; i < instructions; i += 2 {
		fmt.Fprintf(&text, ".line %d\nLDG.E.SYS R%d, [R2+0x%x]\n", i+1, 4+i%32, 4*(i%1024))
		fmt.Fprintf(&text, ".line %d\nFADD R40, R40, R%d\n", i+2, 4+i%32)
	}
	text.WriteString("STG.E.SYS [R2], R40\nEXIT\n")
	return text.String()
}

// clickSome clicks instructions that wait, all over the page, and returns the milliseconds from each click until the page has been
// painted anew.
const clickSome = `(async () => {
  const rows = [...document.querySelectorAll("tr[data-defs]")], took = [];
  for (let i = 0; i < rows.length; i += Math.ceil(rows.length / 25)) {
    const began = performance.now();
    rows[i].querySelector("code").click();
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    took.push(performance.now() - began);
  }
  return took;
})()`

// TestLongKernelInBrowser opens the page of a kernel of 10,000 instructions and prints how long a click takes.
func TestLongKernelInBrowser(t *testing.T) {
	b := openBrowser(t)
	dir := t.TempDir()
	source, module, file := filepath.Join(dir, "long.sass"), filepath.Join(dir, "long.cubin"), filepath.Join(dir, "long.html")
	if err := os.WriteFile(source, []byte(longKernel(10_000)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"asm", source, "-o", module},
		{"profile", module, "--grid", "1", "--block", "32", "--arg", "f32[1024]:uniform(0,1)", "--try", "0", "--html", file}, // the other pages have tries
	} {
		if _, stderr, status := invoke(t, args...); status != exitDone {
			t.Fatalf("status %d: %s", status, stderr)
		}
	}
	paint := b.open("file://" + file)
	var rows int
	b.evaluate(`document.querySelectorAll(".sass tr").length`, &rows)
	var took []float64
	b.evaluate(clickSome, &took)
	if rows < 10_000 || len(took) == 0 {
		t.Errorf("%d rows, %d clicks", rows, len(took))
	}
	slices.Sort(took)
	b.quietConsole()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d instructions, %d bytes, first paint after %.0f ms, %d clicks, painted after %.1f ms in the median, %.1f ms at most",
		rows, info.Size(), paint, len(took), took[len(took)/2], took[len(took)-1])
}
