package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	arMagic      = "!<arch>\n"
	arHeaderSize = 60
	maxArMembers = 16
)

// Deb writes the wanted file of a Debian package to out. The format is deb(5): an
// ar archive of «debian-binary», the control files and «data.tar» with the files.
func Deb(ctx context.Context, in io.Reader, wanted Wanted, out io.Writer) error {
	in = &source{ctx: ctx, from: in}
	magic := make([]byte, len(arMagic))
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != arMagic {
		return errors.New("it is not a Debian package")
	}
	search := &taking{Wanted: wanted, out: out}
	data := false
	for n := 0; ; n++ {
		name, size, err := arHeader(in)
		switch {
		case errors.Is(err, io.EOF) && !data:
			return errors.New("the Debian package has no data")
		case errors.Is(err, io.EOF):
			return search.finish()
		case err != nil:
			return err
		case n == maxArMembers:
			return fmt.Errorf("%w: the Debian package has more than %d members", ErrTooLarge, maxArMembers)
		case n == 0 && name != "debian-binary":
			return fmt.Errorf("the Debian package begins with %.20q", name)
		}
		content := &io.LimitedReader{R: in, N: size}
		if strings.HasPrefix(name, "data.tar") {
			if data {
				return errors.New("the Debian package has data twice")
			}
			data = true
			if err := fromTar(ctx, content, search); err != nil {
				return err
			}
		}
		if err := passMember(in, content, size%2); err != nil {
			return fmt.Errorf("the Debian package ends within %.20q: %w", name, err)
		}
	}
}

// passMember reads over what is left of a member, and the byte that fills it up:
// members begin at even offsets. The last one may go without.
func passMember(in io.Reader, content *io.LimitedReader, odd int64) error {
	if _, err := io.Copy(io.Discard, content); err != nil {
		return err
	}
	if content.N > 0 {
		return io.ErrUnexpectedEOF
	}
	if _, err := io.CopyN(io.Discard, in, odd); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// arHeader reads the header of an ar archive's member: 60 bytes of text.
func arHeader(in io.Reader) (name string, size int64, err error) {
	header := make([]byte, arHeaderSize)
	if _, err := io.ReadFull(in, header); err != nil {
		return "", 0, err
	}
	size, err = strconv.ParseInt(string(bytes.TrimSpace(header[48:58])), 10, 64)
	if err != nil || size < 0 || string(header[58:]) != "`\n" {
		return "", 0, errors.New("the Debian package has a member without a header")
	}
	name = strings.TrimSuffix(string(bytes.TrimSpace(header[:16])), "/")
	return name, size, nil
}

func fromTar(ctx context.Context, in io.Reader, search *taking) error {
	content, err := Decompress(ctx, in, unpackedFactor*search.Limit)
	if err != nil {
		return err
	}
	defer content.Close()
	files := tar.NewReader(content)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading the package's files: %w", err)
		}
		if err := search.accept(member{header.Name, header.Size, plain(header)}, files); err != nil {
			return err
		}
	}
	// What follows the last file carries the compression's checksum.
	if _, err := io.Copy(io.Discard, content); err != nil {
		return fmt.Errorf("reading the package to its end: %w", err)
	}
	return nil
}

// plain tells whether an entry is a regular file with all of its content. One with
// holes is none that dpkg would make: https://git.dpkg.org/cgit/dpkg/dpkg.git/tree/lib/dpkg/tarfn.c.
func plain(header *tar.Header) bool {
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return false
		}
	}
	return header.Typeflag == tar.TypeReg
}
