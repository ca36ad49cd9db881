package simulation

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
)

func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", "&#10;").Replace(text)
}

// sorted are the pairs of a map by name.
func sorted(values map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if !yield(name, values[name]) {
				return
			}
		}
	}
}

// junit is a file of one suite. It has no scenario without an end; where the run was killed it breaks off.
func (g *generator) junit(name string, shard []*scenario, abort string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n <testsuite name=%q timestamp=%q>\n",
		name, g.begin.Format(time.RFC3339))
	for _, s := range shard {
		if s.missing {
			continue
		}
		for i, a := range s.attempts {
			if s.lost && i == len(s.attempts)-1 {
				continue
			}
			g.testcase(&out, s, a)
		}
	}
	if abort == "killed" {
		return out.String() + "  <testcase classname=\"e2e\" name=\"Te"
	}
	out.WriteString(" </testsuite>\n</testsuites>\n")
	return out.String()
}

func (g *generator) testcase(out *strings.Builder, s *scenario, a attempt) {
	fmt.Fprintf(out, "  <testcase classname=\"e2e\" name=\"%s\" time=\"%.3f\" timestamp=%q>\n", escape(s.name),
		a.end.Sub(a.begin).Seconds(), a.begin.Format(time.RFC3339))
	var lines, properties strings.Builder
	for name, value := range sorted(s.values) {
		switch s.tells(name, g) {
		case inProperty:
			fmt.Fprintf(&properties, "    <property name=%q value=%q/>\n", name, value)
		case inLine:
			if name == "cluster" || name == "region" {
				fmt.Fprintf(&lines, "cluster.go:31: using %s: %s\n", name, value)
			}
		case inName, nowhere:
		}
	}
	if properties.Len() > 0 {
		fmt.Fprintf(out, "   <properties>\n%s   </properties>\n", properties.String())
	}
	if a.failure != nil {
		first, _, _ := strings.Cut(a.failure.message, "\n")
		fmt.Fprintf(out, "   <failure message=\"%s\" type=\"\">%s:%d: %s</failure>\n", escape(first),
			a.failure.text.file, a.failure.text.line, strings.ReplaceAll(escape(a.failure.message), "&#10;", "\n"))
	}
	fmt.Fprintf(out, "   <system-out>%screated machine %s\n</system-out>\n  </testcase>\n", escape(lines.String()),
		g.variable("node", ""))
}
