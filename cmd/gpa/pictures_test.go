package main

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// maxPicture is the most bytes of a picture in the documents.
const maxPicture = 200 << 10

// A guidePicture is a picture of the guide: a page, what is done to it, and the part of it that is shown.
type guidePicture struct {
	name          string
	args          []string // of gpa, which write the page to the file that is added to them
	do            string
	width, height int
}

// guide is the folder with the guide's kernels.
const guide = "../../docs/guide/"

// guidePictures are the pictures of gpa's pages; that of pprof's is flames.
func guidePictures() []guidePicture {
	return []guidePicture{
		{"guide-report", []string{"profile", guide + "naive", "--html"}, ``, 1280, 560},
		{"guide-code", []string{"profile", guide + "naive", "--html"}, clickHottest, 1280, 560},
		{"guide-compare", []string{"compare", guide + "naive", guide + "padded", "--html"}, ``, 1280, 860},
	}
}

var flames = guidePicture{name: "guide-flamegraph", do: waitForFlames, width: 1280, height: 240}

// TestGuidePictures looks at the pictures of the guide. With -update a browser takes them anew.
func TestGuidePictures(t *testing.T) {
	if *update {
		takePictures(t)
	}
	for _, p := range append(guidePictures(), flames) {
		file, err := os.Open(p.file())
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		picture, err := png.DecodeConfig(file)
		if err != nil || picture.Width != p.width || picture.Height != p.height {
			t.Errorf("%s: %d by %d, %v", p.name, picture.Width, picture.Height, err)
		}
		if info, err := file.Stat(); err != nil || info.Size() > maxPicture {
			t.Errorf("%s: %d bytes, %v", p.name, info.Size(), err)
		}
	}
}

func (p *guidePicture) file() string { return filepath.Join("../../docs/pictures", p.name+".png") }

func takePictures(t *testing.T) {
	b := openBrowser(t)
	for _, p := range guidePictures() {
		page := filepath.Join(t.TempDir(), "page.html")
		if _, stderr, status := invoke(t, append(p.args, page)...); status != exitDone {
			t.Fatalf("%s: status %d: %s", p.name, status, stderr)
		}
		b.open("file://" + page)
		b.take(p)
	}
	b.open("http://" + servePprof(t, "-lines", "-tagroot=stall", guide+"naive") + "/ui/flamegraph")
	b.take(flames)
}

// clickHottest chooses the hottest instruction that waits for another and leaves nothing but the code on the page.
const clickHottest = `(() => {
  const heat = row => parseFloat(row.querySelector(".heat").textContent);
  const rows = [...document.querySelectorAll("tr[data-defs]")].filter(row => row.dataset.defs.split("=")[0] !== row.id);
  const row = rows.reduce((a, b) => heat(b) > heat(a) ? b : a);
  document.querySelector("main").replaceChildren(document.querySelector(".code").parentElement);
  for (const e of [...document.querySelector(".kernel").children]) if (!e.classList.contains("code")) e.remove();
  document.querySelector("header").remove();
  row.closest(".pane").scrollTop = row.getBoundingClientRect().top - row.closest(".pane").getBoundingClientRect().top - 300;
  row.querySelector("code").click();
  return document.querySelectorAll(".arrows path").length > 0;
})()`

// waitForFlames waits until pprof has drawn its boxes.
const waitForFlames = `(async () => {
  for (let i = 0; i < 100 && document.querySelectorAll(".boxbg").length < 2; i++) await new Promise(done => setTimeout(done, 50));
  return document.querySelectorAll(".boxbg").length >= 2;
})()`

// take takes a picture of the page.
func (b *browser) take(p guidePicture) {
	b.t.Helper()
	b.resize(p.width, p.height)
	if p.do != "" {
		var done bool
		if b.evaluate(p.do, &done); !done {
			b.t.Errorf("%s: the page does not show what the picture is of", p.name)
		}
	}
	b.picture(p.file())
}
