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

// apt downloads from one source, with lists and a cache of its own: the node's
// lists stay as they are, and nobody who holds their lock is in the way.
type apt struct{ get, cache, sources string }

func (a apt) format() hotfix.Format { return hotfix.Deb }

func (a apt) identity() string { return fileIdentity(a.sources) }

// trusted reads the sources; that the repository is signed is then for apt to check.
func (a apt) trusted() error { return trustedSources(a.sources) }

// verify has nothing left to do: apt holds each package against the digest in the
// signed list.
func (a apt) verify(context.Context, string, string) error { return nil }

// aptSigns are texts of apt-get in the language C. What will be the same at the next
// try comes before what may not.
func aptSigns() []sign {
	return []sign{
		{"Could not get lock", Busy, false},
		{"Unable to lock", Busy, false},
		{"NO_PUBKEY", Untrusted, false},
		{"BADSIG", Untrusted, false},
		{"EXPKEYSIG", Untrusted, false},
		{"could not be authenticated", Untrusted, false},
		{"Certificate verification failed", Untrusted, false},
		{"The certificate is NOT trusted", Untrusted, false},
		{"401  Unauthorized", Denied, false},
		{"403  Forbidden", Denied, false},
		{"404  Not Found", VersionNotFound, false},
		{"410  Gone", VersionNotFound, false},
		{"Could not resolve '", Unreachable, true},
		{"Connection refused", Unreachable, true},
		{"Failed to fetch", Unreachable, false},
		{partly, Unreachable, false},
		{"is not signed", Untrusted, false}, // it says so of one that it could not fetch, too
	}
}

// partly is what older ones say while they call it a success.
const partly = "Some index files failed to download"

// withoutHooks takes away what distributions run after a refresh: it is for the
// node's own lists.
const withoutHooks = `#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
`

func (a apt) download(ctx context.Context, e request, work string) (string, error) {
	options, err := a.options(work)
	if err != nil {
		return "", err
	}
	output, err := run(ctx, program{a.get, append(options, "update"), work})
	if err == nil && strings.Contains(output, partly) {
		err = errors.New("the lists came in part")
	}
	if err != nil {
		return "", read(withoutIgnored(output), err, aptSigns())
	}
	table, err := run(ctx, program{a.cache, append(options, "madison", e.packageName), work})
	if err != nil {
		return "", read(table, err, aptSigns())
	}
	version, found := newest(table, e)
	if !found {
		return "", &Error{Outcome: VersionNotFound, Err: fmt.Errorf("%s does not list it", a.sources)}
	}
	// A package that an earlier try left is not the one of this try.
	got := filepath.Join(work, "got")
	if err := emptied(got); err != nil {
		return "", err
	}
	output, err = run(ctx, program{a.get, append(options, "download", e.packageName+"="+version), got})
	if err != nil {
		return "", read(output, err, aptSigns())
	}
	return only(filepath.Join(got, "*.deb"))
}

// withoutIgnored takes out what apt tried and did without, such as «InRelease» where
// there is a «Release»: the line says so, and the indented one behind it why.
func withoutIgnored(output string) string {
	var kept strings.Builder
	ignored := false
	for line := range strings.Lines(output) {
		ignored = strings.HasPrefix(line, "Ign:") || ignored && strings.HasPrefix(line, " ")
		if !ignored {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// options are those of every call; none of them is apt's own default on every node.
func (a apt) options(work string) ([]string, error) {
	for _, folder := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(work, folder), 0o755); err != nil { //nolint:gosec // G301: for _apt too
			return nil, err
		}
	}
	hooks := filepath.Join(work, "apt.conf")
	if err := os.WriteFile(hooks, []byte(withoutHooks), 0o600); err != nil {
		return nil, err
	}
	options := []string{"-q", "-c", hooks}
	for _, option := range append([]string{
		"Dir::Etc::sourcelist=" + a.sources,
		"Dir::Etc::sourceparts=-",
		"Dir::State::lists=" + filepath.Join(work, "lists"),
		"Dir::Cache=" + filepath.Join(work, "cache"),
		"APT::Get::List-Cleanup=0",
		"APT::Update::Error-Mode=any",
		"Acquire::Languages=none",
		"Acquire::Retries=0", // trying again is ours, within the budget
		"Acquire::http::Timeout=15",
		"Acquire::https::Timeout=15",
	}, checks()...) {
		options = append(options, "-o", option)
	}
	return options[:len(options):len(options)], nil
}

// checks puts apt's own checks in force, whatever the node's settings say. A single
// source can still be exempted in the file of sources, which trusted reads.
// https://manpages.debian.org/apt/apt-secure.8
func checks() []string {
	return []string{
		"APT::Get::AllowUnauthenticated=false",
		"APT::Authentication::TrustCDROM=false",
		"Acquire::AllowInsecureRepositories=false",
		"Acquire::AllowWeakRepositories=false",
		"Acquire::AllowDowngradeToInsecureRepositories=false",
		"Acquire::Check-Valid-Until=true",
		"Acquire::https::Verify-Peer=true",
		"Acquire::https::Verify-Host=true",
	}
}

// newest finds the version in the table of «apt-cache madison», which lists the
// newest first: package | version | source.
func newest(table string, e request) (string, bool) {
	for line := range strings.Lines(table) {
		columns := strings.Split(line, "|")
		if len(columns) < 3 || strings.TrimSpace(columns[0]) != e.packageName {
			continue
		}
		if version := strings.TrimSpace(columns[1]); e.want.PackagedAs(version) {
			return version, true
		}
	}
	return "", false
}

func emptied(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.Mkdir(folder, 0o700)
}
