//go:build linux

package slot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
)

// MaxProgram bounds the size of a program, in bytes.
const MaxProgram = 256 << 20

// What is read of an ELF file of 64 bits; the standard library's reader knows
// debugging information as well, and weighs more than all of this package.
// https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html
type header struct {
	Ident         [16]byte
	Type, Machine uint16
	Version       uint32
	Entry         uint64
	Segments      uint64 // the offset of their table
	Sections      uint64
	Flags         uint32
	Size          uint16
	SegmentSize   uint16
	SegmentCount  uint16
	_, _, _       uint16 // of the sections
}

// segment is a part of the file that is loaded into memory, or not.
type segment struct {
	Type, Flags   uint32
	Offset        uint64
	Address, _    uint64
	FileSize      uint64
	MemorySize, _ uint64
}

const (
	typeExecutable = 2
	typeShared     = 3 // executables that can be placed anywhere, too
	segmentLoaded  = 1
	segmentSize    = 56
	maxSegments    = 1000
)

// beginning of an ELF file of 64 bits, the lesser byte first.
const beginning = "\x7fELF\x02\x01\x01"

// machines are ELF's numbers for the architectures that nodes have, as Go names them.
func machines() map[string]uint16 {
	return map[string]uint16{"amd64": 62, "arm64": 183, "riscv64": 243}
}

// checkProgram refuses what this machine could not execute: another format,
// another architecture, or a program whose end is missing.
func checkProgram(file io.ReaderAt, size int64) error {
	switch {
	case size == 0:
		return errors.New("it is empty")
	case size > MaxProgram:
		return fmt.Errorf("it has %d bytes, more than %d", size, MaxProgram)
	}
	var head header
	err := binary.Read(io.NewSectionReader(file, 0, size), binary.LittleEndian, &head)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		err == nil && !strings.HasPrefix(string(head.Ident[:]), beginning):
		return errors.New("it is not an ELF executable of 64 bits")
	case err != nil:
		return err
	case head.Type != typeExecutable && head.Type != typeShared:
		return fmt.Errorf("it is an ELF file of type %d, not an executable", head.Type)
	case head.Machine != machines()[runtime.GOARCH]:
		here := machines()[runtime.GOARCH]
		return fmt.Errorf("it is for machine %d; this one, %s, is %d", head.Machine, runtime.GOARCH, here)
	}
	return checkSegments(file, size, head)
}

// checkSegments sees to it that all that would be loaded is in the file.
func checkSegments(file io.ReaderAt, size int64, head header) error {
	length := uint64(size) //nolint:gosec // G115: a file's size is not negative
	if head.SegmentSize != segmentSize || head.SegmentCount > maxSegments || head.Segments > length {
		return errors.New("its ELF header is damaged")
	}
	segments := make([]segment, head.SegmentCount)
	table := io.NewSectionReader(file, int64(head.Segments), size) //nolint:gosec // G115: at most the size
	if err := binary.Read(table, binary.LittleEndian, segments); err != nil {
		return fmt.Errorf("it is truncated: its table of segments can't be read: %w", err)
	}
	loaded := false
	for _, one := range segments {
		if one.Type != segmentLoaded {
			continue
		}
		loaded = true
		if one.FileSize > length || one.Offset > length-one.FileSize {
			return errors.New("it is truncated: a segment ends behind the file")
		}
	}
	if !loaded {
		return errors.New("it has no segment to load")
	}
	return nil
}
