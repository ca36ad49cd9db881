package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
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
