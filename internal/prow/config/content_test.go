package config_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"salve/internal/prow/config"
)

// TestParseReadsOneFile, compressed or not, and places what is wrong in it.
func TestParseReadsOneFile(t *testing.T) {
	const content = "pod_namespace: test-pods\n"
	var packed bytes.Buffer
	archive := gzip.NewWriter(&packed)
	if _, err := archive.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string][]byte{"plain": []byte(content), "compressed": packed.Bytes()} {
		read, err := config.Parse("ConfigMap prow/config", raw).Config()
		if err != nil || read.PodNamespace.Value != "test-pods" || read.ProwJobNamespace.Value != "default" {
			t.Errorf("%s: %+v, %v", name, read, err)
		}
		if expanded, err := config.Expand(raw); err != nil || string(expanded) != content {
			t.Errorf("%s: expanded to %q, %v", name, expanded, err)
		}
	}
	broken := config.Parse("ConfigMap prow/config", []byte("a: ["))
	if !broken.Incomplete() || !strings.HasPrefix(broken.Diagnostics[0].Position.String(), "ConfigMap prow/config:") {
		t.Errorf("%v", broken.Diagnostics)
	}
	if _, err := config.Expand([]byte("\x1f\x8bbroken")); err == nil || !strings.HasPrefix(err.Error(), "decompress: ") {
		t.Errorf("%v", err)
	}
}
