package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
		return errors.New("requires a command: licenses, image or chart")
	}
	flags := flag.NewFlagSet(arguments[0], flag.ContinueOnError)
	if arguments[0] == "licenses" {
		return makeLicenses(flags, arguments[1:])
	}
	created := flags.String("created", "", "`time` of the commit (RFC 3339), which all times in what is made are")
	var do func(at time.Time) error
	switch arguments[0] {
	case "image":
		dist := flags.String("dist", "dist", "`folder` that GoReleaser wrote; the layout is written into image, in it")
		source := flags.String("source", "", "`URL` of the repository, where it has a home")
		licenses := flags.String("licenses", "bin/release/licenses/salve", "`folder` with the licenses of what it is linked from")
		do = func(at time.Time) error {
			return makeImage(*dist, *source, []string{"LICENSE", filepath.Join(*licenses, licensesName)}, at)
		}
	case "chart":
		folder := flags.String("chart", "deploy/helm/salve", "`folder` of the chart")
		version := flags.String("version", "", "`version` of the release")
		into := flags.String("into", ".", "`folder` to write the package into")
		do = func(at time.Time) error { return packageChart(*folder, *version, *into, at) }
	default:
		return fmt.Errorf("unknown command %q: want licenses, image or chart", arguments[0])
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

// makeLicenses writes the licenses of what a program is linked from.
func makeLicenses(flags *flag.FlagSet, arguments []string) error {
	program := flags.String("program", "", "`package` of the program")
	platforms := flags.String("platforms", "", "`LIST` of what it is released for, such as linux/amd64,darwin/arm64")
	into := flags.String("into", ".", "`folder` to write "+licensesName+" into")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	return writeLicenses(*program, strings.Split(*platforms, ","), *into)
}

// makeImage writes the image into a release, and its digest beside it. The licenses are files that go into it.
func makeImage(dist, source string, licenses []string, created time.Time) error {
	made, err := readRelease(dist)
	if err != nil {
		return err
	}
	made.created, made.source, made.licenses = created, source, map[string][]byte{}
	for _, path := range licenses {
		if made.licenses[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			return fmt.Errorf("reading what the image is licensed under: %w", err)
		}
	}
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
