package gpa_test

import (
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of packages in docs/architecture.md anew")

// The table of packages stands between these lines.
const (
	packagesBegin = "<!-- packages: go test . -run Architecture -update -->\n"
	packagesEnd   = "<!-- end of packages -->\n"
)

// TestArchitecture holds that the architecture page lists the packages as they are: what each is by its own documentation, and the
// packages of the module that it imports.
func TestArchitecture(t *testing.T) {
	const page = "docs/architecture.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), packagesBegin)
	shown, after, ended := strings.Cut(rest, packagesEnd)
	if !found || !ended {
		t.Fatalf("%s has no table of packages", page)
	}
	want := packageTable(t)
	if *update {
		if err := os.WriteFile(page, []byte(before+packagesBegin+want+packagesEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shown != want {
		t.Errorf("%s shows\n%s\nthe packages are\n%s\n(go test . -run Architecture -update writes it anew)", page, shown, want)
	}
}

// packageTable lists the packages of the module in Markdown.
func packageTable(t *testing.T) string {
	var out strings.Builder
	out.WriteString("| package | what it is | imports |\n|---|---|---|\n")
	direct := imports(t)
	for _, folder := range sortedFolders(direct) {
		var list []string
		for _, imported := range direct[folder] {
			if inner, ok := inModule(imported); ok {
				list = append(list, packageName(inner))
			}
		}
		slices.Sort(list)
		uses := strings.Join(slices.Compact(list), ", ")
		if uses == "" {
			uses = "-"
		}
		fmt.Fprintf(&out, "| [%s](../%s) | %s | %s |\n", packageName(folder), strings.TrimPrefix(folder, "."), synopsis(t, folder), uses)
	}
	return out.String()
}

// packageName is the path of a package below the module, and the module's for its root.
func packageName(folder string) string {
	if folder == "." {
		return "gpa"
	}
	return folder
}

// sortedFolders lists the packages, the root's first.
func sortedFolders(direct map[string][]string) []string { return slices.Sorted(maps.Keys(direct)) }

// synopsis is the first sentence of a package's documentation, without "Package x".
func synopsis(t *testing.T, folder string) string {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if file.Doc == nil || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text := new(doc.Package).Synopsis(file.Doc.Text())
		for _, prefix := range []string{"Package ", "Command "} {
			if rest, ok := strings.CutPrefix(text, prefix); ok {
				_, text, _ = strings.Cut(rest, " ")
			}
		}
		return strings.ReplaceAll(strings.TrimSuffix(text, "."), "|", `\|`)
	}
	t.Errorf("package %s has no documentation", folder)
	return ""
}
