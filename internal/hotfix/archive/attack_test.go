package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"salve/internal/hotfix/archive"
)

// packed is a stream of a kind of compression; repeated streams of one kind are one.
func packed(t testing.TB, kind string, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var to io.WriteCloser
	var err error
	switch kind {
	case "gzip":
		to = gzip.NewWriter(&out)
	case "xz":
		to, err = xz.NewWriter(&out)
	case "zstd":
		to, err = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	default:
		return content
	}
	if err == nil {
		_, err = to.Write(content)
	}
	if err := errors.Join(err, to.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// zeros is a stream of 1,000 MiB of them.
func zeros(t testing.TB, kind string) []byte {
	return bytes.Repeat(packed(t, kind, make([]byte, 8<<20)), 125)
}

// arMember is one of an ar archive.
type arMember struct {
	name string
	body []byte
}

func ar(members ...arMember) []byte {
	out := bytes.NewBufferString("!<arch>\n")
	for _, one := range members {
		fmt.Fprintf(out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", one.name, 0, 0, 0, "100644", len(one.body))
		out.Write(one.body)
		if len(one.body)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

func debOf(data []byte) []byte {
	return ar(arMember{"debian-binary", []byte("2.0\n")}, arMember{"control.tar", nil}, arMember{"data.tar", data})
}

// tarOf is an archive of entries, each with all that its header says.
func tarOf(t testing.TB, headers ...*tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	files := tar.NewWriter(&out)
	for _, header := range headers {
		if err := files.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			if _, err := files.Write(make([]byte, header.Size)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// cpioEntry is one entry of a cpio archive, as rpm writes it.
type cpioEntry struct {
	name string
	mode int
	body []byte
}

func cpio(entries ...cpioEntry) []byte {
	var out bytes.Buffer
	fill := func() { out.Write(make([]byte, -out.Len()&3)) }
	for i, one := range append(entries, cpioEntry{name: "TRAILER!!!"}) {
		fmt.Fprintf(&out, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
			i, one.mode, 0, 0, 1, 0, len(one.body), 0, 0, 0, 0, len(one.name)+1, 0, one.name)
		fill()
		out.Write(one.body)
		fill()
	}
	return out.Bytes()
}

// rpmOf has empty headers around the payload.
func rpmOf(payload []byte) []byte {
	header := append([]byte("\x8e\xad\xe8\x01"), make([]byte, 12)...)
	return bytes.Join([][]byte{[]byte("\xed\xab\xee\xdb"), make([]byte, 92), header, header, payload}, nil)
}

const (
	file   = 0o100755
	setuid = 0o104755
	link   = 0o120777
	device = 0o060666
	folder = 0o040755
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
			debs(kind("./usr/bin/program", tar.TypeBlock)), rpms(cpioEntry{"./usr/bin/program", device, nil}), "does not hold it"},
		"a character device": {
			debs(kind("./usr/bin/program", tar.TypeChar)), rpms(cpioEntry{"./usr/bin/program", 0o020666, nil}), "does not hold it"},
		"a pipe": {
			debs(kind("./usr/bin/program", tar.TypeFifo)), rpms(cpioEntry{"./usr/bin/program", 0o010666, nil}), "does not hold it"},
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
			append(ar(arMember{"debian-binary", nil}), ar(arMember{"data.tar", tarOf(t, regular("./usr/bin/program", 3))})[8:1500]...),
			nil, "EOF"},
		"a header that is larger than any": {
			nil, rpmOf(nil)[:96+8], "there is none"},
		"a header of 64 GiB": {
			nil, bytes.Join([][]byte{rpmOf(nil)[:96], []byte("\x8e\xad\xe8\x01\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff")}, nil),
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

// TestBombs: whatever a package is compressed with, and wherever in it the mass is,
// little of it is unpacked.
func TestBombs(t *testing.T) {
	const limit = 256 << 20
	for _, kind := range []string{"gzip", "xz", "zstd"} {
		mass := zeros(t, kind)
		wanted := packed(t, kind, tarOf(t, &tar.Header{Name: "usr/bin/program", Typeflag: tar.TypeReg, Size: 3})[:1024])
		claimed := packed(t, kind, tarOf(t, &tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: 0})[:512])
		huge := bytes.Clone(tarOf(t, &tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: limit})[:512])
		entries := bytes.Repeat(cpio(cpioEntry{name: "a", mode: folder})[:112], 150_000)
		for place, raw := range map[string]struct {
			format string
			raw    []byte
		}{
			"a file that is not wanted, deb": {"deb", debOf(append(packed(t, kind, huge), mass...))},
			"behind the wanted file, deb":    {"deb", debOf(append(wanted, mass...))},
			"nothing but padding, deb":       {"deb", debOf(append(claimed, mass...))},
			"all zeros, deb":                 {"deb", debOf(mass)},
			"all zeros, rpm":                 {"rpm", rpmOf(mass)},
			"behind the last entry, rpm":     {"rpm", rpmOf(append(packed(t, kind, cpio(cpioEntry{"./usr/bin/program", file, nil})), mass...))},
			"a great many entries, rpm":      {"rpm", rpmOf(packed(t, kind, entries))},
		} {
			t.Run(kind+", "+place, func(t *testing.T) {
				allocated := allocation(func() {
					err := opening(raw.format)(t.Context(), bytes.NewReader(raw.raw), archive.Wanted{Name: name, Limit: limit},
						io.Discard)
					if place == "all zeros, rpm" {
						if err == nil {
							t.Error("zeros are a package")
						}
					} else if !errors.Is(err, archive.ErrTooLarge) && place != "all zeros, deb" {
						t.Errorf("it says %v", err)
					}
				})
				if allocated > 64<<20 {
					t.Errorf("it took %d MiB of memory", allocated>>20)
				}
			})
		}
		t.Run(kind+" is stopped early", func(t *testing.T) {
			opened, err := archive.Decompress(t.Context(), bytes.NewReader(mass), limit)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, opened)
			if !errors.Is(err, archive.ErrTooLarge) || n > 24<<20 {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	}
}

// TestAStreamDoesNotChooseItsReadersMemory: a few bytes ask for gigabytes.
func TestAStreamDoesNotChooseItsReadersMemory(t *testing.T) {
	dictionary := packed(t, "xz", []byte("x"))
	dictionary[12+4] = 40 // the property of the first block's filter: 4 GiB
	binary.LittleEndian.PutUint32(dictionary[12+8:], crc32Of(dictionary[12:12+8]))
	window := []byte("\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00") // a frame with a window of 3.75 TiB, and one empty block
	for title, raw := range map[string][]byte{"a dictionary of xz": dictionary, "a window of zstd": window} {
		t.Run(title, func(t *testing.T) {
			allocated := allocation(func() {
				opened, err := archive.Decompress(t.Context(), bytes.NewReader(raw), 1<<30)
				if err == nil {
					_, err = io.Copy(io.Discard, opened)
				}
				if err == nil {
					t.Error("it was read")
				}
				if title == "a dictionary of xz" && !errors.Is(err, archive.ErrTooLarge) {
					t.Errorf("it says %v", err)
				}
			})
			if allocated > 8<<20 {
				t.Errorf("it took %d MiB", allocated>>20)
			}
		})
	}
}

func allocation(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestTheContextEndsUnpacking wherever it is: in what is read, and in what is made of
// it.
func TestTheContextEndsUnpacking(t *testing.T) {
	const limit = 1 << 30
	random := make([]byte, 600_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)        // it never fails
	empty := bytes.Repeat(packed(t, "gzip", nil), 100_000) // a reader that gives nothing for long
	for title, row := range map[string]struct {
		format string
		raw    []byte
	}{
		"deb, before its data":           {"deb", ar(arMember{"debian-binary", nil}, arMember{"control.tar", random}, arMember{"data.tar", nil})},
		"deb, gzip":                      {"deb", debOf(packed(t, "gzip", tarOfBody(t, random)))},
		"deb, xz":                        {"deb", debOf(packed(t, "xz", tarOfBody(t, random)))},
		"deb, zstd":                      {"deb", debOf(packed(t, "zstd", tarOfBody(t, random)))},
		"deb, not compressed":            {"deb", debOf(tarOfBody(t, random))},
		"deb, a stream of empty ones":    {"deb", debOf(empty)},
		"rpm, in its header":             {"rpm", append(rpmOf(nil)[:96], append([]byte("\x8e\xad\xe8\x01\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00"), random...)...)},
		"rpm, gzip":                      {"rpm", rpmOf(packed(t, "gzip", cpio(cpioEntry{"./usr/bin/program", file, random})))},
		"rpm, a file that is not wanted": {"rpm", rpmOf(packed(t, "xz", cpio(cpioEntry{"./a", file, random})))},
	} {
		t.Run(title, func(t *testing.T) {
			why := errors.New("the budget is used up")
			ctx, cancel := context.WithCancelCause(t.Context())
			in := &cancelling{from: bytes.NewReader(row.raw), after: 100_000, cancel: func() { cancel(why) }}
			err := opening(row.format)(ctx, in, archive.Wanted{Name: name, Limit: limit}, io.Discard)
			if !errors.Is(err, why) {
				t.Errorf("it says %v", err)
			}
			if in.late > 0 {
				t.Errorf("%d bytes were read afterwards", in.late)
			}
		})
	}
}

// TestTheContextEndsWhatGrows: 8 MiB of zeros come out of one read.
func TestTheContextEndsWhatGrows(t *testing.T) {
	for _, kind := range []string{"gzip", "xz", "zstd"} {
		ctx, cancel := context.WithCancel(t.Context())
		opened, err := archive.Decompress(ctx, bytes.NewReader(packed(t, kind, make([]byte, 3<<20))), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(stopping{cancel}, opened)
		if !errors.Is(err, context.Canceled) || n > 128<<10 {
			t.Errorf("%s: %d bytes, %v", kind, n, err)
		}
	}
}

type stopping struct{ stop func() }

func (s stopping) Write(p []byte) (int, error) {
	s.stop()
	return len(p), nil
}

// cancelling ends a context after some bytes, and counts what is read afterwards.
type cancelling struct {
	from        io.Reader
	after, late int
	cancel      func()
}

func (c *cancelling) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if c.after <= 0 {
		c.late += n
	}
	if c.after -= n; c.after <= 0 {
		c.cancel()
	}
	return n, err
}

func tarOfBody(t *testing.T, body []byte) []byte {
	raw := tarOf(t, &tar.Header{Name: "usr/bin/program", Typeflag: tar.TypeReg, Size: int64(len(body))})
	copy(raw[512:], body)
	return raw
}
