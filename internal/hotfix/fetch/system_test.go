//go:build linux

package fetch_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/fetch"
)

// recording is a package manager that writes down how it was called, does what the
// script says, and ends.
func recording(t *testing.T, script string, names ...string) (searchPath, record string) {
	t.Helper()
	searchPath, record = t.TempDir(), filepath.Join(t.TempDir(), "record")
	for _, name := range names {
		write(t, filepath.Join(searchPath, name), "#!/bin/sh\n{ echo "+name+
			"; for a in \"$@\"; do echo \"  $a\"; done; env | sort; } >>"+record+"\n"+script+"\n")
	}
	return searchPath, record
}

// configuredSource are settings by which a package manager's repository checks
// signatures.
func configuredSource(t *testing.T, manager string) fetch.Settings {
	t.Helper()
	folder := t.TempDir()
	key := filepath.Join(folder, "key.asc")
	write(t, key, "a key")
	if manager == "apt-get" {
		sources := filepath.Join(folder, "hotfix.list")
		write(t, sources, "deb [signed-by="+key+"] http://127.0.0.1:1/ ./\n")
		return fetch.Settings{Source: sources}
	}
	for _, id := range []string{"azurelinux-official-ms-oss", "mariner-official-microsoft"} {
		write(t, filepath.Join(folder, id+".repo"),
			"["+id+"]\nbaseurl=http://127.0.0.1:1/\ngpgcheck=1\ngpgkey=file://"+key+"\n")
	}
	configuration := filepath.Join(folder, "dnf.conf")
	write(t, configuration, "[main]\ngpgcheck=1\nreposdir="+folder+"\n")
	return fetch.Settings{Configuration: configuration}
}

// withTdnf is a node whose package manager is what is in the search path.
func withTdnf(t *testing.T, searchPath string, budget time.Duration) *fetch.Fetcher {
	t.Helper()
	settings := configuredSource(t, "tdnf")
	settings.OSRelease, settings.SearchPath, settings.Budget = osRelease(t, "ID=azurelinux\n"), searchPath, budget
	return fetch.New(settings)
}

func TestThePackageManagerIsToldByTheSystem(t *testing.T) {
	for name, row := range map[string]struct {
		release   string
		installed []string
		want      string // the program that is called, or the outcome
	}{
		"ubuntu":                  {"ID=ubuntu\n", []string{"apt-get", "apt-cache", "dnf"}, "apt-get"},
		"debian in double quotes": {"NAME=x\nID=\"debian\"\n", []string{"apt-get", "apt-cache"}, "apt-get"},
		"ubuntu in single quotes": {"ID='ubuntu'\n", []string{"apt-get", "apt-cache"}, "apt-get"},
		"azurelinux has dnf":      {"ID=azurelinux\n", []string{"tdnf", "dnf"}, "dnf"},
		"azurelinux without dnf":  {"ID=\"azurelinux\"\n", []string{"tdnf"}, "tdnf"},
		"mariner":                 {"ID=mariner\n", []string{"tdnf", "dnf", "apt-get", "apt-cache"}, "dnf"},
		"osguard":                 {"ID=azurelinux\nVARIANT_ID=osguard\n", []string{"tdnf", "dnf"}, "unsupported-os"},
		"osguard in quotes":       {"VARIANT_ID='osguard'\nID=azurelinux\n", []string{"tdnf", "dnf"}, "unsupported-os"},
		"nothing installed":       {"ID=ubuntu\n", nil, "unsupported-os"},
		"another system":          {"ID=flatcar\nID_LIKE=debian\n", []string{"apt-get", "apt-cache"}, "unsupported-os"},
		"no name":                 {"NAME=x\n", []string{"apt-get", "apt-cache"}, "unsupported-os"},
	} {
		t.Run(name, func(t *testing.T) {
			searchPath, record := recording(t, "exit 1", row.installed...)
			source := configuredSource(t, row.want)
			source.OSRelease, source.SearchPath = osRelease(t, row.release), searchPath
			node := fetch.New(source)
			_, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir())
			if row.want == "unsupported-os" {
				if fetch.OutcomeOf(err) != fetch.UnsupportedOS {
					t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
				}
				return
			}
			called, readErr := os.ReadFile(record)
			if readErr != nil || !strings.HasPrefix(string(called), row.want+"\n") {
				t.Errorf("called %s, %v; %v", called, readErr, err)
			}
		})
	}
}

func TestNoReleaseFileIsAnUnsupportedSystem(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe") // that nobody writes to
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, release := range []string{filepath.Join(t.TempDir(), "none"), pipe} {
		_, err := fetch.New(fetch.Settings{OSRelease: release}).Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"),
			t.TempDir())
		if got := fetch.OutcomeOf(err); got != fetch.UnsupportedOS {
			t.Errorf("%s: %s (%v)", release, got, err)
		}
	}
}

func TestTdnfIsAskedForOneRepositoryAndOneVersion(t *testing.T) {
	searchPath, record := recording(t, "exit 0", "tdnf")
	folder := t.TempDir()
	node := withTdnf(t, searchPath, time.Minute)
	if _, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), folder); err == nil {
		t.Error("nothing came, and it is a success")
	}
	called, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(folder, "packages")
	want := strings.Join([]string{"tdnf", "-y", "--refresh", "--disablerepo=*", "--enablerepo=azurelinux-official-ms-oss",
		"--setopt=cachedir=" + work + "/cache", "--setopt=logdir=" + work,
		"--setopt=gpgcheck=1", "--setopt=azurelinux-official-ms-oss.gpgcheck=1",
		"--downloadonly", "--downloaddir=" + work + "/got",
		"install", packageName + "-" + base + ".2"}, "\n  ")
	if !strings.HasPrefix(string(called), want+"\n") {
		t.Errorf("called\n%s\nwant\n%s", called, want)
	}
}

// What the service has in its environment is no business of a package manager,
// except for a proxy.
func TestThePackageManagersEnvironmentIsClean(t *testing.T) {
	t.Setenv("LD_PRELOAD_OF_SOMEBODY", "x")
	t.Setenv("APT_CONFIG", "/somewhere")
	t.Setenv("https_proxy", "http://proxy.example.com:3128")
	searchPath, record := recording(t, "exit 0", "tdnf")
	node := withTdnf(t, searchPath, time.Minute)
	_, _ = node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir())
	called, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"SOMEBODY", "APT_CONFIG"} {
		if strings.Contains(string(called), absent) {
			t.Errorf("%s is there:\n%s", absent, called)
		}
	}
	for _, present := range []string{"LC_ALL=C\n", "https_proxy=http://proxy.example.com:3128\n"} {
		if !strings.Contains(string(called), present) {
			t.Errorf("%q is missing:\n%s", present, called)
		}
	}
}

func TestWhatTdnfSays(t *testing.T) {
	for name, row := range map[string]struct {
		script string
		want   fetch.Outcome
	}{
		"not published": {"echo 'Error(1011) : No matching packages'; exit 245", fetch.VersionNotFound},
		"its lock": {"echo 'waiting for tdnf_instance lock on /var/run/.tdnf-instance-lockfile'; exec sleep 60",
			fetch.Busy},
		"it hangs":      {"exec sleep 60", fetch.Timeout},
		"unreachable":   {"echo \"Error: Failed to synchronize cache for repo 'x'\"; exit 1", fetch.Unreachable},
		"a key":         {"echo 'Error: GPG check FAILED'; exit 1", fetch.Untrusted},
		"anything else": {"echo 'something new'; exit 7", fetch.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			searchPath, _ := recording(t, row.script, "tdnf")
			node := withTdnf(t, searchPath, 5*time.Second)
			_, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir())
			if fetch.OutcomeOf(err) != row.want {
				t.Errorf("outcome %s, want %s: %v", fetch.OutcomeOf(err), row.want, err)
			}
		})
	}
}

// A package manager that ignores SIGTERM, and whose child does too, is gone when
// the fetch returns.
func TestTheWholeProcessGroupIsEnded(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	searchPath, _ := recording(t, `trap '' TERM
sh -c 'trap "" TERM; echo $$ >>`+pids+`; while :; do sleep 1; done' &
echo $$ >>`+pids+`
while :; do sleep 1; done`, "tdnf")
	node := withTdnf(t, searchPath, 3*time.Second)
	_, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir())
	if fetch.OutcomeOf(err) != fetch.Timeout {
		t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
	}
	raw, err := os.ReadFile(pids)
	if err != nil || len(strings.Fields(string(raw))) != 2 {
		t.Fatalf("processes %q, %v", raw, err)
	}
	for _, pid := range strings.Fields(string(raw)) {
		if running(pid) {
			t.Errorf("process %s is still running", pid)
		}
	}
}

// running tells whether a process is there and not merely waiting to be reaped; it
// gives one that was just killed a moment to go.
func running(pid string) bool {
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return false
		}
	}
	return true
}
