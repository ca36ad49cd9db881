//go:build linux

package fetch_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"salve/internal/hotfix"
	"salve/internal/hotfix/fetch"
)

// unchecked has dnf download without a check of its own, as tdnf and older ones do.
const unchecked = "--setopt=gpgcheck=0 --setopt=hotfix.gpgcheck=0"

// TestRPMsHaveToBeSigned by the repository's own keys, whatever downloading has looked
// at: the repository lists them all.
func TestRPMsHaveToBeSigned(t *testing.T) {
	settings := "gpgcheck=1\ngpgkey=file://" + keyring(t).public + "\n"
	checked, _ := rpmNodeWith(t, generous, settings, "")
	itself, _ := rpmNodeWith(t, generous, settings, unchecked)
	for title, node := range map[string]*fetch.Fetcher{"dnf checks": checked, "dnf does not": itself} {
		for by, want := range map[string]string{"by nobody": base + ".20", "by another key": base + ".21"} {
			t.Run(title+", "+by, func(t *testing.T) {
				folder := t.TempDir()
				_, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, want), folder)
				if fetch.OutcomeOf(err) != fetch.Untrusted {
					t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
				}
				empty(t, folder)
			})
		}
		if _, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir()); err != nil {
			t.Errorf("%s: %v", title, err)
		}
	}
}

// TestRPMsThatWereTamperedWith: the repository's lists are those of the changed file,
// so that downloading finds nothing wrong; the signature of its header is still right.
func TestRPMsThatWereTamperedWith(t *testing.T) {
	node, r := rpmNodeWith(t, generous, "gpgcheck=1\ngpgkey=file://"+keyring(t).public+"\n", unchecked)
	found, err := filepath.Glob(filepath.Join(r.folder, "*", packageName+"-"+base+".2-*.rpm"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	raw, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	for title, change := range map[string]func(raw []byte){
		"in its payload": func(raw []byte) { raw[len(raw)-30] ^= 1 },
		"in its header":  func(raw []byte) { raw[bytes.LastIndex(raw, []byte(packageName))] ^= 1 },
	} {
		t.Run(title, func(t *testing.T) {
			needs(t, "createrepo_c")
			changed := bytes.Clone(raw)
			change(changed)
			other := &repository{folder: t.TempDir()}
			write(t, filepath.Join(other.folder, filepath.Base(found[0])), string(changed))
			execute(t, other.folder, "createrepo_c", "-q", ".")
			files := http.FileServer(http.Dir(other.folder))
			r.handle(func(w http.ResponseWriter, request *http.Request) bool {
				files.ServeHTTP(w, request)
				return true
			})
			folder := t.TempDir()
			_, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), folder)
			if err == nil || title == "in its payload" && fetch.OutcomeOf(err) != fetch.Untrusted {
				t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
			}
			empty(t, folder)
		})
	}
}

// TestTheNodesKeysStayAsTheyAre: dnf takes in a key that it needs, and would put it
// into the node's database of packages.
func TestTheNodesKeysStayAsTheyAre(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	node, _ := rpmNodeWith(t, generous, "gpgcheck=1\ngpgkey=file://"+keyring(t).public+"\n",
		"; status=$?; { echo asked; rpm -qa 'gpg-pubkey*'; ls $HOME/imported | grep -c key; } >"+record+"; exit $status")
	if _, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if said, err := os.ReadFile(record); err != nil || string(said) != "asked\n1\n" {
		t.Errorf("the database has keys, or none was needed: %q, %v", said, err)
	}
}

// TestWithoutRpmkeysNothingIsTaken: there is nobody else to verify.
func TestWithoutRpmkeysNothingIsTaken(t *testing.T) {
	searchPath, _ := recording(t, `for a in "$@"; do case "$a" in --downloaddir=*) touch "${a#*=}/`+packageName+"-"+base+
		`.2-1.rpm";; esac; done`, "tdnf")
	_, err := withTdnf(t, searchPath, generous).Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir())
	if fetch.OutcomeOf(err) != fetch.Untrusted || !strings.Contains(err.Error(), "rpmkeys is not in") {
		t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
	}
}

// TestARepositoryThatDoesNotCheckIsNotAsked.
func TestARepositoryThatDoesNotCheckIsNotAsked(t *testing.T) {
	for title, settings := range map[string]string{
		"gpgcheck is off": "gpgcheck=0\ngpgkey=file://" + keyring(t).public + "\n",
		"no key":          "gpgcheck=1\n",
		"nothing is said": "",
	} {
		t.Run(title, func(t *testing.T) {
			node, r := rpmNodeWith(t, generous, settings, "")
			r.handle(func(http.ResponseWriter, *http.Request) bool {
				t.Error("it was asked")
				return false
			})
			_, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir())
			if fetch.OutcomeOf(err) != fetch.UnsignedRepository {
				t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
			}
		})
	}
}

// TestASignedRPMIsKnownByItsDigest, and by nothing else: not even gpgcheck matters.
func TestASignedRPMIsKnownByItsDigest(t *testing.T) {
	node, r := rpmNodeWith(t, generous, "gpgcheck=0\n", "")
	for _, patch := range []string{".2", ".20"} {
		found, err := filepath.Glob(filepath.Join(r.folder, "*", packageName+"-"+base+patch+"-*.rpm"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		raw, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		artifact := artifactOf("", raw, hotfix.RPM)
		file, err := node.Program(t.Context(), signed(t, unsignedNaming(t, runtime.GOARCH, artifact)),
			version(t, base+patch), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		holds(t, file, contentOf(base+patch))
		artifact.SHA256 = strings.Repeat("0", 64)
		_, err = node.Program(t.Context(), signed(t, unsignedNaming(t, runtime.GOARCH, artifact)), version(t, base+patch),
			t.TempDir())
		if fetch.OutcomeOf(err) != fetch.BadArtifact {
			t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
		}
	}
}

// TestAptsChecksAreInForce, although the node's settings switch them off: the
// repository has no signature that counts.
func TestAptsChecksAreInForce(t *testing.T) {
	r := aptRepository(t)
	searchPath := t.TempDir()
	for _, name := range []string{"apt-get", "apt-cache"} {
		write(t, filepath.Join(searchPath, name), "#!/bin/sh\nexec "+name+" -o APT::Get::AllowUnauthenticated=true "+
			"-o Acquire::AllowInsecureRepositories=true -o Acquire::AllowWeakRepositories=true "+
			"-o Acquire::AllowDowngradeToInsecureRepositories=true \"$@\"\n")
	}
	node := debian(t, r, func(s *fetch.Settings) { s.SearchPath = searchPath })
	if _, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for title, spoil := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"there is none": func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/InRelease") {
				return false
			}
			w.WriteHeader(http.StatusNotFound)
			return true
		},
		"it is another's": func(w http.ResponseWriter, request *http.Request) bool {
			if !strings.HasSuffix(request.URL.Path, "/InRelease") {
				return false
			}
			folder := t.TempDir()
			execute(t, folder, "gpg", append(stranger(t).flags(), "--clearsign", "-o", filepath.Join(folder, "InRelease"),
				filepath.Join(r.folder, "Release"))...)
			http.ServeFile(w, request, filepath.Join(folder, "InRelease"))
			return true
		},
	} {
		t.Run(title, func(t *testing.T) {
			r.handle(spoil)
			folder := t.TempDir()
			_, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), folder)
			if fetch.OutcomeOf(err) != fetch.Untrusted {
				t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
			}
			empty(t, folder)
		})
	}
}

// TestABombIsRefused: what is signed is unpacked within bounds, too.
func TestABombIsRefused(t *testing.T) {
	folder := t.TempDir()
	path := buildDeb(t, folder, packageName, base+".2", "xz", "usr/bin/"+packageName, contentOf(base+".2"))
	needs(t, "xz", "ar")
	execute(t, folder, "sh", "-c", "ar x "+path+" && xz -dc data.tar.xz >data.tar && truncate -s +64M data.tar"+
		" && rm data.tar.xz && xz -1 data.tar && rm "+path+" && ar rc bomb.deb debian-binary control.tar.xz data.tar.xz")
	raw, err := os.ReadFile(filepath.Join(folder, "bomb.deb"))
	if err != nil {
		t.Fatal(err)
	}
	address := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(raw) })
	to := t.TempDir()
	_, err = anywhereWith(t, func(s *fetch.Settings) { s.Budget = generous }).Program(t.Context(),
		naming(t, runtime.GOARCH, artifactOf(address, raw, hotfix.Deb)), version(t, base+".2"), to)
	if fetch.OutcomeOf(err) != fetch.BadArtifact || !strings.Contains(err.Error(), "times its size") {
		t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
	}
	empty(t, to)
}

// TestPackageManagersFailForGood: what will be the same at the next try is not tried
// again.
func TestPackageManagersFailForGood(t *testing.T) {
	r := aptRepository(t)
	key := keyring(t).public
	for title, row := range map[string]struct {
		line   string
		handle instead
		want   fetch.Outcome
	}{
		"nobody listens": {line: "deb [signed-by=" + key + "] http://127.0.0.1:1/ ./\n", want: fetch.Unreachable},
		"not there": {handle: func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusNotFound)
			return true
		}, want: fetch.VersionNotFound},
		"gone": {handle: func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, ".deb") {
				return false
			}
			w.WriteHeader(http.StatusGone)
			return true
		}, want: fetch.VersionNotFound},
	} {
		t.Run("apt, "+title, func(t *testing.T) {
			source := r.sources
			if row.line != "" {
				source = filepath.Join(t.TempDir(), "a.list")
				write(t, source, row.line)
			}
			handle := row.handle
			if handle == nil {
				handle = func(http.ResponseWriter, *http.Request) bool { return false }
			}
			r.handle(handle)
			node := debian(t, r, func(s *fetch.Settings) { s.Source, s.Clock = source, hasty{t: t} })
			_, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir())
			if fetch.OutcomeOf(err) != row.want {
				t.Errorf("outcome %s, want %s: %v", fetch.OutcomeOf(err), row.want, err)
			}
		})
	}
}
