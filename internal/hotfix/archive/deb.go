package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Deb writes the wanted file of a Debian package to out. The format is deb(5): an
// ar archive of «debian-binary», the control files and «data.tar» with the files.
func Deb(in io.Reader, wanted Wanted, out io.Writer) error {
	magic := make([]byte, 8)
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != "!<arch>\n" {
		return errors.New("it is not a Debian package")
	}
	for {
		name, size, err := arHeader(in)
		if errors.Is(err, io.EOF) {
			return errors.New("the Debian package has no data")
		}
		if err != nil {
			return err
		}
		member := io.LimitReader(in, size)
		if strings.HasPrefix(name, "data.tar") {
			return fromTar(member, wanted, out)
		}
		// Members begin at even offsets.
		if _, err := io.CopyN(io.Discard, in, size+size%2); err != nil {
			return fmt.Errorf("the Debian package ends within %s", name)
		}
	}
}

// arHeader reads the header of an ar archive's member: 60 bytes of text.
func arHeader(in io.Reader) (name string, size int64, err error) {
	header := make([]byte, 60)
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

func fromTar(in io.Reader, wanted Wanted, out io.Writer) error {
	content, err := Decompress(in, unpackedFactor*wanted.Limit)
	if err != nil {
		return err
	}
	defer content.Close()
	search := &taking{Wanted: wanted, out: out}
	files := tar.NewReader(content)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading the package's files: %w", err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := search.accept(header.Name, header.Size, files); err != nil {
			return err
		}
	}
	// What follows the last file carries the compression's checksum.
	if _, err := io.Copy(io.Discard, content); err != nil {
		return fmt.Errorf("reading the package to its end: %w", err)
	}
	return search.finish()
}
