package pipeline_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/pipeline"
	"salve/internal/pipeline/graph"
)

var update = flag.Bool("update", false, "write the golden files anew")

// painters are all forms of a picture, by the ending of their golden files.
var painters = map[string]func(io.Writer, graph.Picture) error{
	"txt": func(w io.Writer, p graph.Picture) error { return graph.Text(w, p, 80) },
	"dot": graph.DOT, "mmd": graph.Mermaid, "svg": graph.SVG,
}

func fleet(t *testing.T) *pipeline.File {
	t.Helper()
	file, found, err := pipeline.Read("../../examples/fleet/pipeline.yaml")
	if err != nil || len(found) > 0 {
		t.Fatal(err, found)
	}
	return file
}

func TestPictures(t *testing.T) {
	file := fleet(t)
	took, measure := file.Weights(map[string]time.Duration{
		"fleet/heal-system-pool": 35 * time.Minute, "fleet/cluster": 12*time.Minute + 30*time.Second,
		"fleet/agent-permissions": time.Hour,
	})
	for name, picture := range map[string]graph.Picture{
		"fleet":       {Title: "Fleet Management Rollout", Graph: file.Graph(), Measure: "by number of steps"},
		"fleet-timed": {Title: "Fleet Management Rollout", Graph: file.Graph(), Took: took, Measure: measure},
		"hostile":     hostile(),
	} {
		for ending, paint := range painters {
			t.Run(name+"."+ending, func(t *testing.T) {
				var got bytes.Buffer
				if err := paint(&got, picture); err != nil {
					t.Fatal(err)
				}
				golden(t, name+"."+ending, got.Bytes())
			})
		}
	}
}

// hostile is a picture of names that mean something to whoever shows them.
func hostile() graph.Picture {
	nodes := []graph.Node{
		{Group: `g"];x`, Name: `</text><script>alert(1)</script>`, Action: "Shell"},
		{Group: `g"];x`, Name: "\x1b[2Jred\u202e\\n\\", Action: "-->"},
		{Group: "end", Name: "#quot;%%{init}", Action: "ARM", Aside: true},
	}
	return graph.Picture{Title: "\"]\n}--> & <b>",
		Graph: graph.New(nodes, []graph.Edge{{Before: 0, After: 1}, {Before: 1, After: 2}}), Measure: "by number of steps"}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; -update writes it anew:\n%s", path, diff)
	}
}
