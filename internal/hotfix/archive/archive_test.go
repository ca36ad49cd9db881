package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/hotfix/archive"
)

const name = "/usr/bin/program"

// content is too varied to be compressed away, so that cutting it off matters.
func content() []byte {
	random := rand.New(rand.NewPCG(1, 2))
	made := make([]byte, 100_000)
	for i := range made {
		made[i] = byte(random.IntN(64))
	}
	return made
}

// entry is one file of a package that is made here, with what no tool would write.
type entry struct {
	name string
	kind byte
	body []byte
}

func deb(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var data bytes.Buffer
	zipped := gzip.NewWriter(&data)
	files := tar.NewWriter(zipped)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o755, Size: int64(len(e.body))}
		if e.kind == tar.TypeSymlink {
			header.Linkname, header.Size = "/etc/shadow", 0
		}
		if err := files.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write(e.body); e.kind == tar.TypeReg && err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(files.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	for _, member := range []struct {
		name string
		body []byte
	}{{"debian-binary", []byte("2.0\n")}, {"control.tar.gz", []byte("odd")}, {"data.tar.gz", data.Bytes()}} {
		fmt.Fprintf(&out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", member.name, 0, 0, 0, "100644", len(member.body))
		out.Write(member.body)
		if len(member.body)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

func TestOneFileIsTakenOutOfADebianPackage(t *testing.T) {
	body := content()
	for title, row := range map[string]struct {
		wanted  string
		entries []entry
		refused string // part of the error, or empty
	}{
		"by its path":             {wanted: name, entries: []entry{{"./usr/bin/program", tar.TypeReg, body}}},
		"by a path without a dot": {wanted: name, entries: []entry{{"usr/bin/program", tar.TypeReg, body}}},
		"by its name":             {wanted: "program", entries: []entry{{"./opt/x/program", tar.TypeReg, body}}},
		"among others": {wanted: name, entries: []entry{{"./usr/bin/program.txt", tar.TypeReg, []byte("no")},
			{"./usr/bin/program", tar.TypeReg, body}, {"./z", tar.TypeReg, []byte("no")}}},
		"not from elsewhere": {wanted: name, entries: []entry{{"./opt/bin/program", tar.TypeReg, body}},
			refused: "does not hold it"},
		"not as a link": {wanted: name, entries: []entry{{"./usr/bin/program", tar.TypeSymlink, nil}},
			refused: "does not hold it"},
		"not as a folder": {wanted: name, entries: []entry{{"./usr/bin/program/", tar.TypeDir, nil}},
			refused: "does not hold it"},
		"not when it is there twice": {wanted: "program", entries: []entry{{"./a/program", tar.TypeReg, body},
			{"./b/program", tar.TypeReg, body}}, refused: "twice"},
		"not beyond its size": {wanted: name, entries: []entry{{"./usr/bin/program", tar.TypeReg, append(body, 1)}},
			refused: "larger than allowed"},
		"not out of a bomb": {wanted: name, entries: []entry{{"./a", tar.TypeReg, make([]byte, 10*len(body))},
			{"./usr/bin/program", tar.TypeReg, body}}, refused: "larger than allowed"},
		"not out of an empty package": {wanted: name, refused: "does not hold it"},
	} {
		t.Run(title, func(t *testing.T) {
			var out bytes.Buffer
			err := archive.Deb(t.Context(), bytes.NewReader(deb(t, row.entries...)),
				archive.Wanted{Name: row.wanted, Limit: int64(len(body))}, &out)
			switch {
			case row.refused != "" && (err == nil || !strings.Contains(err.Error(), row.refused)):
				t.Errorf("it says %v, want %q", err, row.refused)
			case row.refused == "" && (err != nil || !bytes.Equal(out.Bytes(), body)):
				t.Errorf("%d bytes, %v", out.Len(), err)
			}
		})
	}
}

// Cut off anywhere, a package is an error and never a shorter file.
func TestAPackageThatIsCutOff(t *testing.T) {
	body := content()
	for title, whole := range map[string][]byte{"deb": deb(t, entry{"./usr/bin/program", tar.TypeReg, body}),
		"rpm": buildRPM(t, "w6.gzdio", body)} {
		open := archive.Deb
		if title == "rpm" {
			open = archive.RPM
		}
		for length := 0; length < len(whole); length += 997 {
			wanted := archive.Wanted{Name: name, Limit: 1 << 20}
			if err := open(t.Context(), bytes.NewReader(whole[:length]), wanted, io.Discard); err == nil {
				t.Errorf("%s cut off at %d of %d bytes is taken for whole", title, length, len(whole))
			}
		}
	}
}

// buildRPM makes a real package with rpmbuild, or skips.
func buildRPM(t *testing.T, payload string, body []byte) []byte {
	t.Helper()
	if _, err := exec.LookPath("rpmbuild"); err != nil {
		t.Skip("rpmbuild is not installed; .ci/run installs what this needs")
	}
	top := t.TempDir()
	if err := os.WriteFile(filepath.Join(top, "program"), body, 0o755); err != nil {
		t.Fatal(err)
	}
	spec := "Name: program\nVersion: 1\nRelease: 1\nSummary: x\nLicense: x\nAutoReqProv: no\n%description\nx\n" +
		"%install\ninstall -D -m 755 " + top +
		"/program %{buildroot}/usr/bin/program\necho no >%{buildroot}/usr/bin/program.txt\n" +
		"ln -s program %{buildroot}/usr/bin/alias\n%files\n/usr/bin/*\n"
	if err := os.WriteFile(filepath.Join(top, "program.spec"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("rpmbuild", "-bb", "--define", "_topdir "+top, "--define", "_binary_payload "+payload,
		"--define", "__os_install_post %{nil}", "--define", "debug_package %{nil}", filepath.Join(top, "program.spec"))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found, err := filepath.Glob(filepath.Join(top, "RPMS/*/*.rpm"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	raw, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestOneFileIsTakenOutOfAnRPMPackage(t *testing.T) {
	body := content()
	for title, payload := range map[string]string{"gzip": "w6.gzdio", "xz": "w2.xzdio", "zstd": "w3.zstdio"} {
		t.Run(title, func(t *testing.T) {
			raw := buildRPM(t, payload, body)
			for _, wanted := range []string{name, "program"} {
				var out bytes.Buffer
				err := archive.RPM(t.Context(), bytes.NewReader(raw), archive.Wanted{Name: wanted, Limit: int64(len(body))}, &out)
				if err != nil || !bytes.Equal(out.Bytes(), body) {
					t.Errorf("%d bytes, %v", out.Len(), err)
				}
			}
			err := archive.RPM(t.Context(), bytes.NewReader(raw), archive.Wanted{Name: name, Limit: 1000}, io.Discard)
			if !errors.Is(err, archive.ErrTooLarge) {
				t.Errorf("beyond its size: %v", err)
			}
			alias := archive.Wanted{Name: "/usr/bin/alias", Limit: 1 << 20}
			err = archive.RPM(t.Context(), bytes.NewReader(raw), alias, io.Discard)
			if !errors.Is(err, archive.ErrNotInside) {
				t.Errorf("a link: %v", err)
			}
		})
	}
}

func TestWhatIsNoPackage(t *testing.T) {
	for _, raw := range []string{"", "x", "\x7fELF", strings.Repeat("x", 4096), "!<arch>\n", "\xed\xab\xee\xdb"} {
		wanted := archive.Wanted{Name: name, Limit: 1 << 20}
		if err := archive.Deb(t.Context(), strings.NewReader(raw), wanted, io.Discard); err == nil {
			t.Errorf("%q is taken for a Debian package", raw)
		}
		if err := archive.RPM(t.Context(), strings.NewReader(raw), wanted, io.Discard); err == nil {
			t.Errorf("%q is taken for an RPM package", raw)
		}
	}
}

func TestAStreamEndsAtItsLimit(t *testing.T) {
	var zipped bytes.Buffer
	to := gzip.NewWriter(&zipped)
	_, _ = to.Write(make([]byte, 1000))
	_ = to.Close()
	for title, stream := range map[string][]byte{"compressed": zipped.Bytes(), "plain": make([]byte, 1000)} {
		for limit, want := range map[int64]error{1000: nil, 999: archive.ErrTooLarge} {
			opened, err := archive.Decompress(t.Context(), bytes.NewReader(stream), limit)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, opened)
			if !errors.Is(err, want) || n > limit {
				t.Errorf("%s: %d bytes of at most %d, %v", title, n, limit, err)
			}
		}
	}
}
