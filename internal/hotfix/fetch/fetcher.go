package fetch

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"salve/internal/clock"
	"salve/internal/hotfix"
)

// Settings say where a node's hotfixes come from. Each has a default.
type Settings struct {
	// Package is the package of the program; default aks-node-controller.
	Package string
	// Program is the program's path inside its package, or its name alone; default
	// /usr/bin/<package>.
	Program string
	// ScriptsPackage is the package of the scripts; default <package>-scripts.
	ScriptsPackage string
	// Scripts is the payload inside that package; default write_files.yaml.
	Scripts string
	// Source is the one source that is asked: for apt a file of sources, for dnf and
	// tdnf the ID of a repository. The default is Microsoft's for the operating system.
	Source string
	// Budget bounds a whole fetch; default 60 s.
	Budget time.Duration
	// OSRelease is the file that names the operating system; default /etc/os-release.
	OSRelease string
	// SearchPath is where package managers are looked for, as in PATH.
	SearchPath string
	// Configuration is dnf's or tdnf's own, which says where repositories are written
	// down; default /etc/dnf/dnf.conf or /etc/tdnf/tdnf.conf.
	Configuration string
	// Authorities are those that servers of artifacts are known by; default the system's.
	Authorities *x509.CertPool
	// Tries bounds how often is tried; 0 leaves it to the budget.
	Tries int
	// Clock is the real one by default.
	Clock clock.Clock
}

// Fetcher fetches. Its zero value is of no use; New makes one.
type Fetcher struct{ settings Settings }

// New makes a fetcher, with the default wherever a setting is empty.
func New(settings Settings) *Fetcher {
	for _, setting := range []struct {
		value     *string
		otherwise string
	}{
		{&settings.Package, "aks-node-controller"},
		{&settings.Scripts, "write_files.yaml"},
		{&settings.OSRelease, "/etc/os-release"},
		{&settings.SearchPath, "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
	} {
		if *setting.value == "" {
			*setting.value = setting.otherwise
		}
	}
	if settings.Program == "" {
		settings.Program = "/usr/bin/" + settings.Package
	}
	if settings.ScriptsPackage == "" {
		settings.ScriptsPackage = settings.Package + "-scripts"
	}
	if settings.Budget <= 0 {
		settings.Budget = time.Minute
	}
	if settings.Clock == nil {
		settings.Clock = clock.Real{}
	}
	return &Fetcher{settings}
}

// File is what a fetch brought.
type File struct {
	Path   string // inside the folder that was given, mode 0700
	Source string // where it came from, for people; it holds no secret
	SHA256 string // in hexadecimal
}

// request is one file to bring.
type request struct {
	want         hotfix.Version
	packageName  string
	inside       string // the file inside the package
	architecture string // the artifact's key in the pointer
	folder       string
	by           hotfix.Provenance
}

// Program brings the program of a version into folder. The errors are *Error.
func (o *Fetcher) Program(ctx context.Context, pointer hotfix.Pointer, want hotfix.Version, folder string) (File,
	error) {
	return o.bring(ctx, pointer, o.program(pointer, want, folder))
}

// Scripts brings the payload of scripts of a version into folder. The errors are
// *Error.
func (o *Fetcher) Scripts(ctx context.Context, pointer hotfix.Pointer, want hotfix.Version, folder string) (File,
	error) {
	return o.bring(ctx, pointer, o.scripts(pointer, want, folder))
}

func (o *Fetcher) program(pointer hotfix.Pointer, want hotfix.Version, folder string) request {
	return request{want, o.settings.Package, o.settings.Program, runtime.GOARCH, folder, pointer.Provenance()}
}

func (o *Fetcher) scripts(pointer hotfix.Pointer, want hotfix.Version, folder string) request {
	return request{want, o.settings.ScriptsPackage, o.settings.Scripts, hotfix.AnyArchitecture, folder,
		pointer.Provenance()}
}

// bring takes the artifact when the pointer names one, and the package otherwise.
// An artifact that can't be used is final: whoever wrote it did not mean the
// repository.
func (o *Fetcher) bring(ctx context.Context, pointer hotfix.Pointer, e request) (File, error) {
	ctx, cancel := clock.WithTimeout(ctx, o.settings.Clock, o.settings.Budget)
	defer cancel()
	file := File{Path: filepath.Join(e.folder, "fetched-"+filepath.Base(e.inside))}
	artifact, err := vouched(pointer, e)
	if err == nil {
		if artifact != nil && artifact.URL != "" {
			file.Source, err = o.fromArtifact(ctx, *artifact, e, file.Path)
		} else {
			file.Source, err = o.fromPackage(ctx, e, artifact, file.Path)
		}
	}
	if err == nil {
		file.SHA256, err = digestOf(file.Path)
	}
	if err != nil {
		_ = os.Remove(file.Path) // the error that is returned matters more
		return File{}, &Error{Outcome: OutcomeOf(err), Err: fmt.Errorf("fetching %s %s: %w", e.packageName, e.want, err)}
	}
	return file, nil
}

// vouched gives what a pointer may make a node fetch: by a signed one, what has its
// digest under the signature; by one that nobody signed, a package of the image's own
// repositories, which is nil here.
func vouched(pointer hotfix.Pointer, e request) (*hotfix.Artifact, error) {
	artifact, found, err := pointer.ArtifactOf(e.want, e.architecture)
	switch {
	case !e.by.Signed && (found || err != nil):
		return nil, &Error{Outcome: UnsignedArtifact,
			Err: errors.New("the pointer names an artifact, and nobody signed it: without a signature packages alone are taken")}
	case err != nil:
		return nil, &Error{Outcome: BadArtifact, Err: err}
	case e.by.Signed && !found:
		return nil, &Error{Outcome: NotUnderSignature,
			Err: fmt.Errorf("the signed pointer has no artifact for base %s and architecture %s", e.want.Base(), e.architecture)}
	case !found:
		return nil, nil
	}
	return &artifact, nil
}

// create opens the file that the fetch brings, anew at every try.
func create(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o700) //nolint:gosec // G302: it is a program
	if err != nil {
		return nil, err
	}
	// The mask of the process may have taken from the mode.
	if err := file.Chmod(0o700); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func digestOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}
