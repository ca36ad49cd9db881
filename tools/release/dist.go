package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// release is what GoReleaser says of what it built.
type release struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	// programs are the paths of salve for Linux, by architecture.
	programs map[string]string
	created  time.Time
	source   string
	// licenses are files for the image, by their names.
	licenses map[string][]byte
}

func readRelease(dist string) (release, error) {
	var made release
	if err := readJSON(filepath.Join(dist, "metadata.json"), &made); err != nil {
		return release{}, err
	}
	list := filepath.Join(dist, "artifacts.json")
	var artifacts []struct {
		Path, Type, Goos, Goarch string
		Extra                    struct{ ID string }
	}
	if err := readJSON(list, &artifacts); err != nil {
		return release{}, err
	}
	made.programs = map[string]string{}
	for _, one := range artifacts {
		if one.Type == "Binary" && one.Goos == "linux" && one.Extra.ID == "salve" {
			// Paths in the list are relative to the folder above dist.
			made.programs[one.Goarch] = filepath.Join(dist, "..", one.Path)
		}
	}
	if len(made.programs) == 0 {
		return release{}, fmt.Errorf("%s lists no salve for linux", list)
	}
	return made, nil
}

func readJSON(path string, into any) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w. hint: make release-snapshot", err)
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}
