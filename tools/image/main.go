package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	dist := flag.String("dist", "dist", "`folder` that GoReleaser wrote")
	into := flag.String("into", "", "`folder` to write the image layout into (default: image, in -dist)")
	created := flag.String("created", "", "`time` of the commit (RFC 3339), which all times in the image are")
	source := flag.String("source", "", "`URL` of the repository, where it has a home")
	flag.Parse()
	if *into == "" {
		*into = filepath.Join(*dist, "image")
	}
	digest, err := run(*dist, *into, *created, *source)
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
	fmt.Println(digest)
}

func run(dist, into, created, source string) (digest string, err error) {
	at, err := time.Parse(time.RFC3339, created)
	if err != nil {
		return "", fmt.Errorf("-created: %w", err)
	}
	made, err := readRelease(dist)
	if err != nil {
		return "", err
	}
	made.created, made.source = at.UTC(), source
	index, err := made.index()
	if err != nil {
		return "", err
	}
	return write(index, into)
}

// release is what GoReleaser says of what it built.
type release struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	// programs are the paths of salve for Linux, by architecture.
	programs map[string]string
	created  time.Time
	source   string
}

func readRelease(dist string) (release, error) {
	var made release
	if err := readJSON(filepath.Join(dist, "metadata.json"), &made); err != nil {
		return release{}, err
	}
	var artifacts []struct {
		Path, Type, Goos, Goarch string
		Extra                    struct{ ID string }
	}
	if err := readJSON(filepath.Join(dist, "artifacts.json"), &artifacts); err != nil {
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
		return release{}, fmt.Errorf("%s lists no salve for linux", filepath.Join(dist, "artifacts.json"))
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
