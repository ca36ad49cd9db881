package archive_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"testing"

	"salve/internal/hotfix/archive"
)

func FuzzDeb(f *testing.F) {
	whole := tarOf(f, &tar.Header{Name: "./program", Typeflag: tar.TypeReg, Size: 3})
	for _, kind := range []string{"", "gzip", "xz", "zstd"} {
		f.Add(debOf(packed(f, kind, whole)))
	}
	f.Add([]byte("!<arch>\ndebian-binary   0           0     0     100644  4         `\n2.0\n"))
	fuzz(f, archive.Deb)
}

func FuzzRPM(f *testing.F) {
	whole := cpio(cpioEntry{"./program", file, []byte("x")}, cpioEntry{"./link", link, []byte("/etc/shadow")})
	for _, kind := range []string{"", "gzip", "xz", "zstd"} {
		f.Add(rpmOf(packed(f, kind, whole)))
	}
	f.Add([]byte("\xed\xab\xee\xdb"))
	fuzz(f, archive.RPM)
}

// fuzz looks for a panic, and for more bytes than allowed.
func fuzz(f *testing.F, open func(context.Context, io.Reader, archive.Wanted, io.Writer) error) {
	f.Fuzz(func(t *testing.T, raw []byte) {
		var out bytes.Buffer
		_ = open(t.Context(), bytes.NewReader(raw), archive.Wanted{Name: "program", Limit: 4096}, &out)
		if out.Len() > 4096 {
			t.Errorf("%d bytes came out", out.Len())
		}
	})
}

func FuzzDecompress(f *testing.F) {
	for _, kind := range []string{"", "gzip", "xz", "zstd"} {
		f.Add(packed(f, kind, []byte("hello, hello, hello")))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		opened, err := archive.Decompress(t.Context(), bytes.NewReader(raw), 1<<16)
		if err != nil {
			return
		}
		defer opened.Close()
		if n, _ := io.Copy(io.Discard, opened); n > 1<<16 {
			t.Errorf("%d bytes came out", n)
		}
	})
}
