//go:build linux

package fetch_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/fetch"
)

// rpmNode is a node with the real dnf and a real repository over loopback HTTP, whose
// packages are signed. The program «dnf» that it finds only adds where the
// repository is written down.
func rpmNode(t *testing.T, budget time.Duration) (*fetch.Fetcher, *repository) {
	t.Helper()
	return rpmNodeWith(t, budget, "gpgcheck=1\ngpgkey=file://"+keyring(t).public+"\n", "")
}

// rpmNodeWith is rpmNode by other settings of the repository's; behind the call of
// dnf may be more.
func rpmNodeWith(t *testing.T, budget time.Duration, settings, more string) (*fetch.Fetcher, *repository) {
	t.Helper()
	needs(t, "dnf", "rpmbuild", "rpmsign", "rpmkeys", "createrepo_c")
	r := &repository{folder: filepath.Join(built.folder, "rpm")}
	built.rpm.Do(func() {
		write(t, filepath.Join(r.folder, "README"), "packages of a test\n")
		for patch, payload := range map[string]string{"1": "w6.gzdio", "2": "w2.xzdio", "10": "w3.zstdio", "19": "w6.gzdio"} {
			buildRPM(t, r.folder, base+"."+patch, payload)
		}
		signRPMs(t, r.folder, keyring(t))
		buildRPM(t, r.folder, base+".20", "w6.gzdio") // that nobody signs
		buildRPM(t, filepath.Join(r.folder, "strange"), base+".21", "w6.gzdio")
		signRPMs(t, filepath.Join(r.folder, "strange"), stranger(t))
		execute(t, r.folder, "createrepo_c", "-q", ".")
	})
	folder := t.TempDir()
	write(t, filepath.Join(folder, "test.repo"), "[hotfix]\nname=hotfix\nbaseurl="+r.serve(t)+"\nenabled=1\n"+settings+
		"[other]\nname=other\nbaseurl=http://127.0.0.1:1/\nenabled=1\ngpgcheck=0\n")
	configuration := filepath.Join(folder, "dnf.conf")
	write(t, configuration, "[main]\nreposdir="+folder+"\n")
	searchPath := t.TempDir()
	write(t, filepath.Join(searchPath, "dnf"),
		"#!/bin/sh\ndnf --config="+configuration+" --releasever=3 \"$@\" "+more+"\n")
	write(t, filepath.Join(searchPath, "rpmkeys"), "#!/bin/sh\nexec rpmkeys \"$@\"\n")
	return fetch.New(fetch.Settings{
		Source: "hotfix", OSRelease: osRelease(t, "ID=azurelinux\n"), SearchPath: searchPath, Budget: budget,
		Configuration: configuration,
	}), r
}

// signRPMs signs all packages of a folder.
func signRPMs(t *testing.T, folder string, by keys) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*/*.rpm"))
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	execute(t, folder, "rpmsign", append([]string{"--addsign", "--define", "_gpg_name " + by.name, "--define",
		"_gpg_path " + by.home, "--define", "__gpg /usr/bin/gpg"}, found...)...)
}

func buildRPM(t *testing.T, folder, version, payload string) {
	t.Helper()
	top := t.TempDir()
	write(t, filepath.Join(top, "program"), contentOf(version))
	write(t, filepath.Join(top, "program.spec"), "Name: "+packageName+"\nVersion: "+version+
		"\nRelease: 1.azl3\nSummary: x\nLicense: x\nAutoReqProv: no\n"+
		"%description\nx\n%install\ninstall -D -m 755 "+top+"/program %{buildroot}/usr/bin/"+packageName+
		"\n%files\n/usr/bin/*\n")
	execute(t, top, "rpmbuild", "-bb", "--define", "_topdir "+top, "--define", "_rpmdir "+folder, "--define",
		"_binary_payload "+payload,
		"--define", "__os_install_post %{nil}", "--define", "debug_package %{nil}", filepath.Join(top, "program.spec"))
}

func TestDnfBringsExactlyTheVersion(t *testing.T) {
	node, _ := rpmNode(t, generous)
	for want, published := range map[string]string{
		base + ".1": base + ".1", base + ".2": base + ".2", base + ".19-1.azl3": base + ".19",
	} {
		t.Run(want, func(t *testing.T) {
			file, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, want), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			holds(t, file, contentOf(published))
			if !strings.Contains(file.Source, published+"-1.azl3") {
				t.Errorf("source %q", file.Source)
			}
		})
	}
}

func TestDnfNeverTakesWhatOnlyBeginsLikeIt(t *testing.T) {
	node, _ := rpmNode(t, generous)
	for _, want := range []string{base + ".3", base + ".1-2.azl3"} {
		folder := t.TempDir()
		_, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, want), folder)
		if fetch.OutcomeOf(err) != fetch.VersionNotFound {
			t.Errorf("%s: outcome %s: %v", want, fetch.OutcomeOf(err), err)
		}
		empty(t, folder)
	}
}

func TestDnfOnARepositoryThatFails(t *testing.T) {
	for name, row := range map[string]struct {
		handle instead
		budget time.Duration
		want   []fetch.Outcome
	}{
		"unavailable": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}, 4 * time.Second, []fetch.Outcome{fetch.Unreachable, fetch.Timeout}},
		"forbidden": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusForbidden)
			return true
		}, generous, []fetch.Outcome{fetch.Denied}},
		"silent": {func(_ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		}, 4 * time.Second, []fetch.Outcome{fetch.Timeout}},
	} {
		t.Run(name, func(t *testing.T) {
			node, r := rpmNode(t, row.budget)
			r.handle(row.handle)
			_, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir())
			for _, want := range row.want {
				if fetch.OutcomeOf(err) == want {
					return
				}
			}
			t.Errorf("outcome %s, want %s: %v", fetch.OutcomeOf(err), row.want, err)
		})
	}
}

// Nothing of dnf's is left on the node, and its own cache is not touched.
func TestDnfLeavesNothing(t *testing.T) {
	node, _ := rpmNode(t, generous)
	before, _ := os.ReadDir("/var/cache/dnf")
	if _, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadDir("/var/cache/dnf"); len(after) != len(before) {
		t.Errorf("%d entries before, %d after", len(before), len(after))
	}
}
