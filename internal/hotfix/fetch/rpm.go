package fetch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"salve/internal/hotfix"
)

// rpm downloads with dnf or tdnf from one repository, with a cache of its own.
type rpm struct {
	path          string
	configuration string // of dnf or tdnf
	repository    string // its ID
	searchPath    string
	more          []string // options of dnf's that tdnf does not have
	// both says that a check that is off in the configuration is off in every repository.
	both bool
}

func (r rpm) format() hotfix.Format { return hotfix.RPM }

// rpmSigns are texts of dnf and of tdnf in the language C. A repository that can't
// be reached comes before a package that isn't found: the one causes the other. What
// will be the same at the next try comes before what may not.
func rpmSigns() []sign {
	return []sign{
		{"Waiting for process with pid", Busy, false}, // dnf and tdnf wait by themselves
		{"waiting for tdnf_instance lock", Busy, false},
		{"failed to acquire lock", Busy, false},
		{"GPG check FAILED", Untrusted, false},
		{"is not signed", Untrusted, false},
		{"Curl error (60)", Untrusted, false},
		{"curl#60", Untrusted, false},
		{"Status code: 401", Denied, false},
		{"Status code: 403", Denied, false},
		{"Status code: 404", VersionNotFound, false},
		{"Status code: 410", VersionNotFound, false},
		{"Curl error (6)", Unreachable, true}, // a name that nobody has
		{"curl#6:", Unreachable, true},
		{"Connection refused", Unreachable, true},
		{"Failed to download metadata", Unreachable, false},
		{"Failed to synchronize cache", Unreachable, false},
		{"Error downloading packages", Unreachable, false},
		{"Curl error", Unreachable, false},
		{"curl#", Unreachable, false},
		{"No match for argument", VersionNotFound, false},
		{"Unable to find a match", VersionNotFound, false},
		{"No matching packages", VersionNotFound, false},
	}
}

func (o *Fetcher) dnf(path, repository string) manager {
	return rpm{
		path: path, repository: repository, searchPath: o.settings.SearchPath,
		configuration: either(o.settings.Configuration, "/etc/dnf/dnf.conf"),
		more: []string{
			"--setopt=skip_if_unavailable=False",
			"--setopt=" + repository + ".skip_if_unavailable=False",
			"--setopt=timeout=15",
			"--setopt=retries=1", // trying again is ours, within the budget
		},
	}
}

func (o *Fetcher) tdnf(path, repository string) manager {
	return rpm{
		path: path, repository: repository, searchPath: o.settings.SearchPath, both: true,
		configuration: either(o.settings.Configuration, "/etc/tdnf/tdnf.conf"),
	}
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// options are those of every call. The repository's check is in force, whatever the
// node's settings say; with a digest under a signature it is not needed, and could only
// ask for keys.
func (r rpm) options(work string, signed bool) []string {
	check := "1"
	if signed {
		check = "0"
	}
	return append([]string{
		"-y", "--refresh", "--disablerepo=*", "--enablerepo=" + r.repository,
		"--setopt=cachedir=" + filepath.Join(work, "cache"),
		"--setopt=logdir=" + work,
		"--setopt=gpgcheck=" + check,
		"--setopt=" + r.repository + ".gpgcheck=" + check,
	}, r.more...)
}

// ownKeyring has librpm put the keys that it imports, and look for keys, in a folder of
// ours: the node's own database of packages is read, and stays as it is.
func ownKeyring(work string) error {
	folder := filepath.Join(work, "imported")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	macros := "%_keyring fs\n%_keyringpath " + folder + "/\n"
	return os.WriteFile(filepath.Join(work, ".rpmmacros"), []byte(macros), 0o600)
}

func (r rpm) download(ctx context.Context, e request, work string) (string, error) {
	got := filepath.Join(work, "got")
	if err := emptied(got); err != nil {
		return "", err
	}
	if err := ownKeyring(work); err != nil {
		return "", err
	}
	wanted := e.packageName + "-" + e.want.String()
	arguments := append(r.options(work, e.by.Signed), "--downloadonly", "--downloaddir="+got, "install", wanted)
	output, err := run(ctx, program{r.path, arguments, work})
	if err != nil {
		return "", read(output, err, rpmSigns())
	}
	// What the package depends on may have come with it. A version without release
	// takes any; the hyphen behind it keeps 1.10 from being taken for 1.1.
	pattern := wanted + "-*.rpm"
	if strings.Contains(e.want.String(), "-") {
		pattern = wanted + ".*.rpm"
	}
	return only(filepath.Join(got, pattern))
}

// verify holds a package against the repository's keys, and its parts against their
// digests: downloading alone does not always do that. The keys are in a keyring of
// their own, so that no other key of the node's counts.
func (r rpm) verify(ctx context.Context, file, work string) error {
	rpmkeys, has := lookPath(r.searchPath, "rpmkeys")
	if !has {
		return &Error{Outcome: Untrusted, Err: fmt.Errorf("packages can't be verified: rpmkeys is not in %s", r.searchPath)}
	}
	found, err := r.configured()
	if err != nil {
		return err
	}
	keyring := filepath.Join(work, "keys")
	if err := os.MkdirAll(keyring, 0o700); err != nil {
		return err
	}
	// What has to be there is both signature and digests: «all». The flags, which are what
	// is left out, are none.
	arguments := []string{"--define", "_dbpath " + keyring, "--define", "_pkgverify_level all", "--define",
		"_pkgverify_flags 0x0"}
	for _, key := range found.keys {
		if output, err := run(ctx, program{rpmkeys, append(arguments, "--import", key), work}); err != nil {
			return unverified(ctx, fmt.Errorf("key %s: %w: %s", key, err, lastLine(output, "")))
		}
	}
	if output, err := run(ctx, program{rpmkeys, append(arguments, "--checksig", file), work}); err != nil {
		return unverified(ctx, fmt.Errorf("%w: %s", err, lastLine(output, "")))
	}
	return nil
}

func unverified(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &Error{Outcome: Timeout, Err: errors.New("the package could not be verified in time")}
	}
	return &Error{Outcome: Untrusted,
		Err: fmt.Errorf("the package is not what the repository's keys have signed: %w", err)}
}
