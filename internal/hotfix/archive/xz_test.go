package archive_test

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/hotfix/archive"
)

func crc32Of(raw []byte) uint32 { return crc32.ChecksumIEEE(raw) }

// TestAllThatXZWritesIsRead: blocks, streams, padding, checksums and levels of the
// real tool.
func TestAllThatXZWritesIsRead(t *testing.T) {
	if _, err := exec.LookPath("xz"); err != nil {
		t.Skip("xz is not installed")
	}
	body := bytes.Repeat(content(), 3)
	path := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"-0", "-6", "-9", "-9e", "--block-size=50000", "-T2 --block-size=100000",
		"--check=none", "--check=crc32", "--check=crc64", "--check=sha256", "--lzma2=dict=4KiB,lc=0,lp=2,pb=0"} {
		t.Run(flags, func(t *testing.T) {
			raw, err := exec.Command("xz", append(strings.Fields(flags), "-c", path)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			twice := bytes.Join([][]byte{raw, make([]byte, 8), raw}, nil)
			for title, row := range map[string]struct{ raw, want []byte }{
				"once": {raw, body}, "twice, with padding": {twice, bytes.Repeat(body, 2)},
			} {
				opened, err := archive.Decompress(t.Context(), bytes.NewReader(row.raw), 1<<30)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(opened); err != nil || !bytes.Equal(got, row.want) {
					t.Errorf("%s: %d bytes, %v", title, len(got), err)
				}
			}
		})
	}
}

// TestXZIsJudgedAsByXZ: a stream with any bit changed is read, or not, as by the real
// tool. But for the sizes of chunks inside of a block, which the library does not hold
// against what it reads: there the checksum tells that nothing else came out.
func TestXZIsJudgedAsByXZ(t *testing.T) {
	if _, err := exec.LookPath("xz"); err != nil {
		t.Skip("xz is not installed")
	}
	original := "hello, hello, hello" + strings.Repeat("x", 100)
	whole := append(packed(t, "xz", []byte(original[:19])), packed(t, "xz", []byte(original[19:]))...)
	for at := range whole {
		changed := bytes.Clone(whole)
		changed[at] ^= 1 << (at % 8)
		opened, err := archive.Decompress(t.Context(), bytes.NewReader(changed), 1<<20)
		var got []byte
		if err == nil {
			got, err = io.ReadAll(opened)
		}
		if errors.Is(err, archive.ErrTooLarge) || !bytes.HasPrefix(changed, []byte("\xfd7zXZ\x00")) {
			continue
		}
		tool := exec.Command("xz", "-dc")
		tool.Stdin = bytes.NewReader(changed)
		want, toolErr := tool.Output()
		if toolErr != nil && string(got) == original {
			continue
		}
		if (err == nil) != (toolErr == nil) || (err == nil && !bytes.Equal(got, want)) {
			t.Errorf("byte %d: %q %v, and xz %q %v", at, got, err, want, toolErr)
		}
	}
}
