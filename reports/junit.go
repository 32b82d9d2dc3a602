package reports

import (
	"encoding/xml"
	"fmt"
	"io"
)

// A TestCase is what a comparison says of a kernel, as a test.
type TestCase struct {
	Name    string
	Output  string
	Failure string // "" for none
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure"`
	Output  string        `xml:"system-out"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
}

// WriteJUnit writes test cases as JUnit's XML.
func WriteJUnit(w io.Writer, name string, cases []TestCase) error {
	suite := junitSuite{Name: name, Tests: len(cases)}
	for _, c := range cases {
		test := junitCase{Name: c.Name, Output: c.Output}
		if c.Failure != "" {
			test.Failure = &junitFailure{c.Failure}
			suite.Failures++
		}
		suite.Cases = append(suite.Cases, test)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// CompareJUnit writes a comparison as JUnit's XML, a test case for each kernel. failed says what is wrong with a pair, "" for nothing.
func CompareJUnit(w io.Writer, c *Comparison, failed func(*Pair) string) error {
	var cases []TestCase
	for i := range c.Pairs {
		p := &c.Pairs[i]
		cases = append(cases, TestCase{p.After.Kernel, fmt.Sprintf("%d -> %d cycles, %s", p.Before.Cycles, p.After.Cycles, p.verdict()), failed(p)})
	}
	return WriteJUnit(w, "gpa compare", cases)
}
