package archive_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"salve/internal/hotfix/archive"
)

// TestAttacks: what no package manager would make. Nothing but one regular file's
// content ever comes out, and that once.
func TestAttacks(t *testing.T) {
	t.Parallel()
	regular := func(name string, size int64) *tar.Header {
		return &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755, Size: size}
	}
	kind := func(name string, kind byte) *tar.Header {
		return &tar.Header{Name: name, Typeflag: kind, Mode: 0o7777, Linkname: "/etc/shadow"}
	}
	debs := func(headers ...*tar.Header) []byte { return debOf(tarOf(t, headers...)) }
	rpms := func(entries ...cpioEntry) []byte { return rpmOf(cpio(entries...)) }
	body := make([]byte, 3)
	for title, row := range map[string]struct {
		deb, rpm []byte
		says     string // of the error; empty where the file comes out
	}{
		"a path that goes up to the wanted file": {
			debs(regular("../../usr/bin/program", 3)), rpms(cpioEntry{"../../usr/bin/program", file, body}), "goes up"},
		"a path that goes up to another file": {
			debs(regular("./a/../../../etc/cron.d/x", 3), regular("./usr/bin/program", 3)),
			rpms(cpioEntry{"./a/../../../etc/cron.d/x", file, body}, cpioEntry{"./usr/bin/program", file, body}), "goes up"},
		"an absolute path is below the package": {
			debs(regular("/usr/bin/program", 3)), rpms(cpioEntry{"/usr/bin/program", file, body}), ""},
		"two dots that are part of a name": {
			debs(regular("./usr/bin/a..b", 3), regular("./usr/bin/program", 3)),
			rpms(cpioEntry{"./usr/bin/a..b", file, body}, cpioEntry{"./usr/bin/program", file, body}), ""},
		"the wanted file is a symbolic link": {
			debs(kind("./usr/bin/program", tar.TypeSymlink)),
			rpms(cpioEntry{"./usr/bin/program", link, []byte("/etc/shadow")}), "does not hold it"},
		"the wanted file is a hard link": {
			debs(kind("./usr/bin/program", tar.TypeLink)), nil, "does not hold it"},
		"a symbolic link, and the file behind it": {
			debs(kind("./usr/bin/program", tar.TypeSymlink), regular("./usr/bin/program", 3)),
			rpms(cpioEntry{"./usr/bin/program", link, []byte("/etc/x")}, cpioEntry{"./usr/bin/program", file, body}), "twice"},
		"the file, and a symbolic link in its place": {
			debs(regular("./usr/bin/program", 3), kind("./usr/bin/program", tar.TypeSymlink)),
			rpms(cpioEntry{"./usr/bin/program", file, body}, cpioEntry{"./usr/bin/program", link, []byte("/x")}), "twice"},
		"the file twice": {
			debs(regular("./usr/bin/program", 3), regular("usr//bin/./program", 3)),
			rpms(cpioEntry{"./usr/bin/program", file, body}, cpioEntry{"usr//bin/./program", file, body}), "twice"},
		"a symbolic link in the place of its folder": {
			debs(kind("./usr/bin", tar.TypeSymlink), regular("./usr/bin/program", 3)),
			rpms(cpioEntry{"./usr/bin", link, []byte("/etc")}, cpioEntry{"./usr/bin/program", file, body}), ""},
		"a mode that sets the user": {
			debs(&tar.Header{Name: "./usr/bin/program", Typeflag: tar.TypeReg, Mode: 0o6755, Size: 3}),
			rpms(cpioEntry{"./usr/bin/program", setuid, body}), ""},
		"a block device": {
			debs(kind("./usr/bin/program", tar.TypeBlock)),
			rpms(cpioEntry{"./usr/bin/program", device, nil}), "does not hold it"},
		"a character device": {
			debs(kind("./usr/bin/program", tar.TypeChar)),
			rpms(cpioEntry{"./usr/bin/program", 0o020666, nil}), "does not hold it"},
		"a pipe": {
			debs(kind("./usr/bin/program", tar.TypeFifo)),
			rpms(cpioEntry{"./usr/bin/program", 0o010666, nil}), "does not hold it"},
		"a folder": {
			debs(kind("./usr/bin/program", tar.TypeDir)), rpms(cpioEntry{"./usr/bin/program", folder, nil}), "does not hold it"},
		"a file with holes": {
			debOf(sparse(t)), nil, "does not hold it"},
		"another file that is too large": {
			debs(regular("./a", 1001), regular("./usr/bin/program", 3)),
			rpms(cpioEntry{"./a", file, make([]byte, 1001)}, cpioEntry{"./usr/bin/program", file, body}), "larger than allowed"},
		"a folder that says it is too large": {
			debOf(oversizedFolder(t)), rpms(cpioEntry{"./a", folder, make([]byte, 1001)}), "larger than allowed"},
		"more in all than allowed": {
			debs(regular("./a", 1000), regular("./b", 1000), regular("./c", 1000), regular("./usr/bin/program", 3)),
			rpms(cpioEntry{"./a", file, make([]byte, 1000)}, cpioEntry{"./b", file, make([]byte, 1000)},
				cpioEntry{"./c", file, make([]byte, 1000)}, cpioEntry{"./d", file, make([]byte, 1000)}), "larger than allowed"},
		"data twice": {
			ar(arMember{"debian-binary", []byte("2.0\n")}, arMember{"data.tar", tarOf(t, regular("./usr/bin/program", 3))},
				arMember{"data.tar.gz", nil}), nil, "data twice"},
		"no format first": {
			ar(arMember{"data.tar", tarOf(t, regular("./usr/bin/program", 3))}), nil, "begins with"},
		"a great many members": {
			ar(append([]arMember{{"debian-binary", nil}}, make([]arMember, 1000)...)...), nil, "more than 16 members"},
		"a member that is longer than the package": {
			debs(regular("./usr/bin/program", 3))[:1500],
			nil, "EOF"},
		"a header that is larger than any": {
			nil, rpmOf(nil)[:96+8], "there is none"},
		"a header of 64 GiB": {
			nil, append(rpmOf(nil)[:96], "\x8e\xad\xe8\x01\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"...),
			"larger than allowed"},
		"an entry whose name has no end": {
			nil, rpmOf([]byte("070701" + strings.Repeat("0", 88) + "ffffffff00000000")), "name has"},
	} {
		for format, raw := range map[string][]byte{"deb": row.deb, "rpm": row.rpm} {
			if raw == nil {
				continue
			}
			t.Run(title+"/"+format, func(t *testing.T) {
				var out bytes.Buffer
				err := opening(format)(t.Context(), bytes.NewReader(raw), archive.Wanted{Name: name, Limit: 1000}, &out)
				switch {
				case row.says == "" && (err != nil || !bytes.Equal(out.Bytes(), body)):
					t.Errorf("%q, %v", out.Bytes(), err)
				case row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)):
					t.Errorf("it says %v, want %q", err, row.says)
				}
			})
		}
	}
}

func opening(format string) func(context.Context, io.Reader, archive.Wanted, io.Writer) error {
	if format == "rpm" {
		return archive.RPM
	}
	return archive.Deb
}

// sparse is the wanted file as GNU tar writes one that is nearly all holes.
func sparse(t *testing.T) []byte {
	raw := tarOf(t, &tar.Header{Name: "./usr/bin/GNUSparseFile.0/program", Typeflag: tar.TypeReg, Size: 4,
		PAXRecords: map[string]string{"SNU.sparse.major": "0", "SNU.sparse.minor": "1", "SNU.sparse.size": "900",
			"SNU.sparse.name": "./usr/bin/program", "SNU.sparse.map": "0,4", "SNU.sparse.numblocks": "1"}})
	return bytes.ReplaceAll(raw, []byte("SNU."), []byte("GNU.")) // which the standard library doesn't write
}

// oversizedFolder has a folder whose header claims contents: writers leave those out.
func oversizedFolder(t *testing.T) []byte {
	raw := tarOf(t, &tar.Header{Name: "./a", Typeflag: tar.TypeReg, Size: 1001})
	raw[156] = tar.TypeDir
	sum := 0
	for i, b := range raw[:512] {
		if i >= 148 && i < 156 {
			b = ' '
		}
		sum += int(b)
	}
	copy(raw[148:], fmt.Sprintf("%06o\x00 ", sum))
	return raw
}
