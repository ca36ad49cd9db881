package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	rpmLeadSize   = 96
	maxHeaderSize = 64 << 20 // bytes; rpm itself allows 256 MiB
	maxEntryName  = 4096
)

// RPM writes the wanted file of an RPM package to out: a lead, a signature, a
// header and then a compressed cpio archive with the files. Signatures are the
// package manager's business, as the digest is its caller's.
func RPM(ctx context.Context, in io.Reader, wanted Wanted, out io.Writer) error {
	in = &source{ctx: ctx, from: in}
	lead := make([]byte, rpmLeadSize)
	if _, err := io.ReadFull(in, lead); err != nil || !bytes.HasPrefix(lead, []byte("\xed\xab\xee\xdb")) {
		return errors.New("it is not an RPM package")
	}
	signature, err := skipHeader(in)
	if err != nil {
		return fmt.Errorf("the RPM package's signature: %w", err)
	}
	// The signature is filled up to a multiple of 8 bytes.
	if _, err := io.CopyN(io.Discard, in, (8-signature%8)%8); err != nil {
		return fmt.Errorf("the RPM package ends after its signature: %w", err)
	}
	if _, err := skipHeader(in); err != nil {
		return fmt.Errorf("the RPM package's header: %w", err)
	}
	content, err := Decompress(ctx, in, unpackedFactor*wanted.Limit)
	if err != nil {
		return err
	}
	defer content.Close()
	search := &taking{Wanted: wanted, out: out}
	if err := fromCpio(content, search); err != nil {
		return err
	}
	return search.finish()
}

// skipHeader reads over one header structure and gives its length: 16 bytes, an
// index of 16 bytes an entry, and the data that the index points into.
func skipHeader(in io.Reader) (int64, error) {
	intro := make([]byte, 16)
	if _, err := io.ReadFull(in, intro); err != nil || !bytes.HasPrefix(intro, []byte("\x8e\xad\xe8")) {
		return 0, errors.New("there is none")
	}
	entries, data := binary.BigEndian.Uint32(intro[8:]), binary.BigEndian.Uint32(intro[12:])
	size := int64(entries)*16 + int64(data)
	if size > maxHeaderSize {
		return 0, ErrTooLarge
	}
	if _, err := io.CopyN(io.Discard, in, size); err != nil {
		return 0, err
	}
	return int64(len(intro)) + size, nil
}

// lastEntry ends a cpio archive.
const lastEntry = "TRAILER!!!"

func fromCpio(in io.Reader, search *taking) error {
	for {
		entry, err := nextEntry(in)
		if err != nil {
			return fmt.Errorf("reading the package's files: %w", err)
		}
		if entry.name == lastEntry {
			break
		}
		content := &io.LimitedReader{R: in, N: entry.size}
		if err := search.accept(entry, content); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, in, content.N+padding(entry.size)); err != nil {
			return fmt.Errorf("the package ends within %.200q: %w", entry.name, err)
		}
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return fmt.Errorf("reading the package to its end: %w", err)
	}
	return nil
}

// nextEntry reads a header of the «newc» form: 110 characters, numbers in
// hexadecimal.
func nextEntry(in io.Reader) (member, error) {
	header := make([]byte, 110)
	if _, err := io.ReadFull(in, header); err != nil {
		return member{}, err
	}
	if magic := string(header[:6]); magic != "070701" && magic != "070702" {
		return member{}, errors.New("an entry has no header of the «newc» form")
	}
	mode, modeErr := hexadecimal(header[14:22])
	size, sizeErr := hexadecimal(header[54:62])
	length, lengthErr := hexadecimal(header[94:102])
	if err := errors.Join(modeErr, sizeErr, lengthErr); err != nil {
		return member{}, err
	}
	if length < 1 || length > maxEntryName {
		return member{}, fmt.Errorf("an entry's name has %d bytes", length)
	}
	name := make([]byte, length+padding(110+length))
	if _, err := io.ReadFull(in, name); err != nil {
		return member{}, err
	}
	return member{
		name: string(bytes.TrimRight(name[:length], "\x00")), size: size,
		regular: mode&0o170000 == 0o100000,
	}, nil
}

// padding fills up to a multiple of 4 bytes.
func padding(length int64) int64 { return (4 - length%4) % 4 }

func hexadecimal(text []byte) (int64, error) {
	value, err := strconv.ParseUint(string(text), 16, 32)
	return int64(value), err
}
