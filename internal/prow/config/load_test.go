package config_test

import (
	"testing"
	"testing/fstest"

	"salve/internal/diagnostic"
	"salve/internal/prow/config"
)

// load reads a configuration of one file, and jobs below jobs/.
func load(t *testing.T, files map[string]string) config.Loaded {
	t.Helper()
	tree := fstest.MapFS{}
	names := config.Files{Config: "config.yaml"}
	for name, content := range files {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
		if len(name) > 5 && name[:5] == "jobs/" {
			names.Jobs = "jobs"
		}
		if len(name) > 7 && name[:7] == "shards/" {
			names.Supplemental = []string{"shards"}
		}
	}
	return config.Load(tree, names)
}

// sound is a configuration in which nothing is wrong.
func sound(t *testing.T, files map[string]string) *config.Config {
	t.Helper()
	loaded := load(t, files)
	c, err := loaded.Config()
	if err != nil {
		t.Fatalf("%v\n%v", err, loaded.Diagnostics)
	}
	return c
}

func TestNamespacesDefault(t *testing.T) {
	c := sound(t, map[string]string{"config.yaml": "pod_namespace: test-pods\n"})
	if c.ProwJobNamespace.Value != "default" || c.ProwJobNamespace.Position != (diagnostic.Position{File: "config.yaml"}) {
		t.Errorf("%+v", c.ProwJobNamespace)
	}
	if want := (diagnostic.Position{File: "config.yaml", Line: 1, Column: 16}); c.PodNamespace.Value != "test-pods" ||
		c.PodNamespace.Position != want {
		t.Errorf("%+v", c.PodNamespace)
	}
}
