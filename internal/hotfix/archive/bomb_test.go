package archive_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"salve/internal/hotfix/archive"
)

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
		last := packed(t, kind, cpio(cpioEntry{"./usr/bin/program", file, nil}))
		for place, raw := range map[string]struct {
			format string
			raw    []byte
		}{
			"a file that is not wanted, deb": {"deb", debOf(append(packed(t, kind, huge), mass...))},
			"behind the wanted file, deb":    {"deb", debOf(append(wanted, mass...))},
			"nothing but padding, deb":       {"deb", debOf(append(claimed, mass...))},
			"all zeros, deb":                 {"deb", debOf(mass)},
			"all zeros, rpm":                 {"rpm", rpmOf(mass)},
			"behind the last entry, rpm":     {"rpm", rpmOf(append(last, mass...))},
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
				if allocated > 128<<20 { // all that was allocated, and more under the race detector
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

// TestWindowsOfZstd: 64 MiB are read, and the next size is not, whatever is in it.
func TestWindowsOfZstd(t *testing.T) {
	for name, row := range map[string]struct {
		descriptor byte // https://datatracker.ietf.org/doc/html/rfc8878#name-window-descriptor
		read       bool
	}{"64 MiB": {16 << 3, true}, "72 MiB": {16<<3 | 1, false}, "128 MiB": {17 << 3, false}} {
		raw := append([]byte("\x28\xb5\x2f\xfd\x00"), row.descriptor, 1, 0, 0) // and one empty block
		opened, err := archive.Decompress(t.Context(), bytes.NewReader(raw), 1<<30)
		if err == nil {
			_, err = io.Copy(io.Discard, opened)
		}
		if (err == nil) != row.read {
			t.Errorf("a window of %s: %v", name, err)
		}
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
	wanted := cpio(cpioEntry{"./usr/bin/program", file, random})
	header := "\x8e\xad\xe8\x01\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00" // 16 MiB of data
	for title, row := range map[string]struct {
		format string
		raw    []byte
	}{
		"deb, before its data":           {"deb", ar(arMember{"debian-binary", nil}, arMember{"control.tar", random})},
		"deb, gzip":                      {"deb", debOf(packed(t, "gzip", tarOfBody(t, random)))},
		"deb, xz":                        {"deb", debOf(packed(t, "xz", tarOfBody(t, random)))},
		"deb, zstd":                      {"deb", debOf(packed(t, "zstd", tarOfBody(t, random)))},
		"deb, not compressed":            {"deb", debOf(tarOfBody(t, random))},
		"deb, a stream of empty ones":    {"deb", debOf(empty)},
		"rpm, in its header":             {"rpm", append(append(rpmOf(nil)[:96], header...), random...)},
		"rpm, gzip":                      {"rpm", rpmOf(packed(t, "gzip", wanted))},
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
