package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("requires a command: image or chart")
	}
	flags := flag.NewFlagSet(arguments[0], flag.ContinueOnError)
	created := flags.String("created", "", "`time` of the commit (RFC 3339), which all times in what is made are")
	var do func(at time.Time) error
	switch arguments[0] {
	case "image":
		dist := flags.String("dist", "dist", "`folder` that GoReleaser wrote; the layout is written into image, in it")
		source := flags.String("source", "", "`URL` of the repository, where it has a home")
		do = func(at time.Time) error { return makeImage(*dist, *source, at) }
	case "chart":
		folder := flags.String("chart", "deploy/helm/salve", "`folder` of the chart")
		version := flags.String("version", "", "`version` of the release")
		into := flags.String("into", ".", "`folder` to write the package into")
		do = func(at time.Time) error { return packageChart(*folder, *version, *into, at) }
	default:
		return fmt.Errorf("unknown command %q: want image or chart", arguments[0])
	}
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, *created)
	if err != nil {
		return fmt.Errorf("-created: %w", err)
	}
	return do(at.UTC())
}

// makeImage writes the image into a release, and its digest beside it.
func makeImage(dist, source string, created time.Time) error {
	made, err := readRelease(dist)
	if err != nil {
		return err
	}
	made.created, made.source = created, source
	index, err := made.index()
	if err != nil {
		return err
	}
	digest, err := writeLayout(index, filepath.Join(dist, "image"))
	if err != nil {
		return err
	}
	fmt.Println(digest)
	return os.WriteFile(filepath.Join(dist, "image.digest"), []byte(digest+"\n"), 0o644)
}
