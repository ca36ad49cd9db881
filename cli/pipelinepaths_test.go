package cli

import (
	"os"
	"path/filepath"
	"testing"

	"salve/internal/pipeline/rollout"
)

// TestRecordCannotMakeAResumeOpenAnotherFile: whatever a record names outside of the working folder is named again by
// the operator, or is not opened.
func TestRecordCannotMakeAResumeOpenAnotherFile(t *testing.T) {
	outside, tree := t.TempDir(), t.TempDir()
	t.Chdir(tree)
	if err := os.Symlink(outside, filepath.Join(tree, "link")); err != nil {
		t.Fatal(err)
	}
	other, own := filepath.Join(outside, "p.yaml"), filepath.Join(tree, "p.yaml")
	usual := filepath.Join(tree, "..", "kept", "logs")
	for _, test := range []struct {
		name     string
		recorded rollout.Inputs
		given    pipelinePaths
		refused  string
	}{
		{"files of the working folder",
			rollout.Inputs{Pipeline: own, Config: filepath.Join(tree, "c", "c.yaml"), Logs: usual}, pipelinePaths{}, ""},
		{"another pipeline", rollout.Inputs{Pipeline: other, Logs: usual}, pipelinePaths{}, "--pipeline " + other},
		{"another pipeline, named", rollout.Inputs{Pipeline: other, Logs: usual}, pipelinePaths{pipeline: other}, ""},
		{"another one than was named", rollout.Inputs{Pipeline: other, Logs: usual}, pipelinePaths{pipeline: own},
			"conflict: --pipeline"},
		{"one of the folder, named otherwise",
			rollout.Inputs{Pipeline: own, Logs: usual}, pipelinePaths{pipeline: other}, "conflict: --pipeline"},
		{"one behind a link", rollout.Inputs{Pipeline: filepath.Join(tree, "link", "p.yaml"), Logs: usual},
			pipelinePaths{}, "--pipeline "},
		{"one above", rollout.Inputs{Pipeline: filepath.Join(tree, "..", "p.yaml"), Logs: usual},
			pipelinePaths{}, "--pipeline "},
		{"another configuration",
			rollout.Inputs{Pipeline: own, Config: other, Logs: usual}, pipelinePaths{}, "--config " + other},
		{"logs over other files", rollout.Inputs{Pipeline: own, Logs: outside}, pipelinePaths{}, "--logs " + outside},
	} {
		t.Run(test.name, func(t *testing.T) {
			from := &journalFlags{
				locationFlags: locationFlags{folder: filepath.Join("..", "kept")}, back: []string{"--journal", "kept"},
			}
			err := test.given.confirm(&app{}, from, "run-1", test.given.ofPipeline(test.recorded))
			switch {
			case test.refused == "" && err != nil:
				t.Error(err)
			case test.refused != "" && err == nil:
				t.Error("it is opened")
			case test.refused != "":
				contains(t, err.Error(), test.refused)
			}
		})
	}
}
