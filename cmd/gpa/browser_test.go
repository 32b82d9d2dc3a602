package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// A browser is a headless Chromium that is driven by the Chrome DevTools Protocol over two pipes: JSON messages with a zero byte
// behind each. See https://chromedevtools.github.io/devtools-protocol/.
type browser struct {
	t       *testing.T
	to      io.Writer
	from    *bufio.Reader
	id      int
	session string   // of the page
	console []string // what pages have printed, errors included
}

// chromium finds the browser's program.
func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	return ""
}

// openBrowser starts a browser with one page; it ends with the test, which is skipped where none is installed.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	program := chromium()
	if program == "" {
		t.Skip("no Chromium is installed: the pages are not tried in a browser")
	}
	theirs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "gpa-browser-")
	if err != nil {
		t.Fatal(err)
	}
	// The browser's children may outlive it by a moment and write there.
	t.Cleanup(func() {
		for i := 0; os.RemoveAll(folder) != nil && i < 50; i++ {
			time.Sleep(20 * time.Millisecond)
		}
	})
	cmd := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1400,1000",
		"--user-data-dir="+folder, "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{theirs, ours}
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	ours.Close()
	b := &browser{t: t, to: to, from: bufio.NewReader(from)}
	t.Cleanup(func() {
		b.send("Browser.close", nil)
		to.Close()
		cmd.Wait()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// A devtoolsMessage is an answer to a command or an event.
type devtoolsMessage struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

func (b *browser) send(method string, params any) {
	b.id++
	message := map[string]any{"id": b.id, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		b.t.Error(err)
	}
	b.to.Write(append(text, 0)) // where the browser is gone, the answer will be missed
}

// call sends a command and waits for its answer.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.send(method, params)
	for {
		m := b.receive()
		if m.ID != b.id {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

// receive reads a message and keeps what goes to the console.
func (b *browser) receive() *devtoolsMessage {
	b.t.Helper()
	text, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser is gone: %v", err)
	}
	m := new(devtoolsMessage)
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), m); err != nil {
		b.t.Fatal(err)
	}
	switch m.Method {
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
		b.console = append(b.console, m.Method+": "+string(m.Params))
	}
	return m
}

// open loads a page and waits until it has been painted. It returns the milliseconds from the request to the first paint.
func (b *browser) open(url string) (firstPaint float64) {
	b.t.Helper()
	b.console = nil
	// A page that loads itself anew from time to time may do so just before: what counts is the document that was asked for.
	var asked, shown, loaded struct{ LoaderID string }
	b.send("Page.navigate", map[string]any{"url": url})
	for answered := false; !answered || loaded != asked; {
		m := b.receive()
		var err error
		switch {
		case m.ID == b.id && m.Error != nil:
			b.t.Fatalf("%s: %s", url, m.Error.Message)
		case m.ID == b.id:
			answered, err = true, json.Unmarshal(m.Result, &asked)
		case m.Method == "Page.frameNavigated":
			var event struct{ Frame struct{ LoaderID string } }
			err = json.Unmarshal(m.Params, &event)
			shown.LoaderID = event.Frame.LoaderID
		case m.Method == "Page.loadEventFired":
			loaded = shown
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	b.evaluate(`new Promise(done => new PerformanceObserver(list => done(list.getEntries()[0].startTime)).observe({type: "paint", buffered: true}))`, &firstPaint)
	return firstPaint
}

// evaluate computes an expression in the page, to its end where it is a promise.
func (b *browser) evaluate(expression string, result any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	if result != nil {
		if err := json.Unmarshal(answer.Result.Value, result); err != nil {
			b.t.Fatalf("%s: %v", expression, err)
		}
	}
}

// resize gives the window a size.
func (b *browser) resize(width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// picture writes what the window shows as a PNG file.
func (b *browser) picture(file string) {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// quietConsole fails where the page has printed anything.
func (b *browser) quietConsole() {
	b.t.Helper()
	for _, line := range b.console {
		b.t.Errorf("the console shows %s", line)
	}
}
