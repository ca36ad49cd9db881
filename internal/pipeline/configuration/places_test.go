package configuration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"salve/internal/pipeline/configuration"
)

// TestPlaces are read without rendering, from a file and its overlays together.
func TestPlaces(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := write("config.yaml", "defaults:\n  short: {{ .ev2.short }}\n  name: '{{ .ctx.region }}-x'\nclouds:\n"+
		"  public:\n    environments:\n      stg: {regions: {westus: {}, eastus: {}}}\n      int: {}\n  fairfax: {}\n")
	overlay := write("overlay.yaml", "clouds: {public: {environments: {int: {regions: {uksouth: {}}}}}}")
	broken := write("broken.yaml", "clouds: [")
	for _, row := range []struct {
		files []string
		want  string
	}{
		{[]string{config}, "[public/int/ public/stg/eastus public/stg/westus]"},
		{[]string{config, overlay}, "[public/int/uksouth public/stg/eastus public/stg/westus]"},
	} {
		places, err := configuration.Places(row.files[0], row.files[1:]...)
		if got := fmt.Sprint(places); err != nil || got != row.want {
			t.Errorf("%v has %s, %v; want %s", row.files, got, err, row.want)
		}
	}
	if places, err := configuration.Places(broken); err == nil {
		t.Errorf("a broken file has %v", places)
	}
}
