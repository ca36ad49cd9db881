package fetch

import (
	"context"
	"path/filepath"
	"strings"
)

// rpm downloads with dnf or tdnf from one repository, with a cache of its own.
type rpm struct {
	path    string
	options func(work string) []string
}

// rpmSigns are texts of dnf and of tdnf in the language C. A repository that can't
// be reached comes before a package that isn't found: the one causes the other.
func rpmSigns() []sign {
	return []sign{
		{"Waiting for process with pid", Busy}, // dnf and tdnf wait by themselves
		{"waiting for tdnf_instance lock", Busy},
		{"failed to acquire lock", Busy},
		{"GPG check FAILED", Untrusted},
		{"is not signed", Untrusted},
		{"Status code: 401", Denied},
		{"Status code: 403", Denied},
		{"Failed to download metadata", Unreachable},
		{"Failed to synchronize cache", Unreachable},
		{"Error downloading packages", Unreachable},
		{"Curl error", Unreachable},
		{"curl#", Unreachable},
		{"No match for argument", VersionNotFound},
		{"Unable to find a match", VersionNotFound},
		{"No matching packages", VersionNotFound},
	}
}

func dnf(path, repository string) manager {
	return rpm{path: path, options: func(work string) []string {
		return append(oneRepository(repository, work),
			"--setopt=logdir="+work,
			"--setopt=skip_if_unavailable=False",
			"--setopt="+repository+".skip_if_unavailable=False",
			"--setopt=timeout=15",
			"--setopt=retries=1", // trying again is ours, within the budget
		)
	}}
}

func tdnf(path, repository string) manager {
	return rpm{path: path, options: func(work string) []string { return oneRepository(repository, work) }}
}

func oneRepository(repository, work string) []string {
	return []string{
		"-y", "--refresh", "--disablerepo=*", "--enablerepo=" + repository,
		"--setopt=cachedir=" + filepath.Join(work, "cache"),
	}
}

func (r rpm) download(ctx context.Context, e request, work string) (string, error) {
	got := filepath.Join(work, "got")
	if err := emptied(got); err != nil {
		return "", err
	}
	wanted := e.packageName + "-" + e.want.String()
	arguments := append(r.options(work), "--downloadonly", "--downloaddir="+got, "install", wanted)
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
