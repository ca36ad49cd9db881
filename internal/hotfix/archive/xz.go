package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// The container of xz: https://tukaani.org/xz/xz-file-format.txt.
const (
	xzMagic       = "\xfd7zXZ\x00"
	xzFooterMagic = "YZ"
	xzLZMA2       = 0x21
	xzChunk       = 4 // bytes, to a multiple of which all parts are filled up
)

var errDamagedXZ = errors.New("the xz stream is damaged, or has filters that packages do not use")

// xzReader reads files of xz. The library has a reader of its own, which takes the
// size of each block's dictionary from the block, up to 4 GiB; this one gives at most
// maxWindow, and leaves to the library what is inside of a block.
type xzReader struct {
	in    *counted
	flags []byte           // of the stream: its kind of checksum
	check func() hash.Hash // of a block; nil for none

	block *xzBlock
	// blocks and sizes are what the index has to say again.
	blocks uint64
	sizes  hash.Hash
}

// xzBlock is a block that is being read.
type xzBlock struct {
	content      io.Reader
	sum          hash.Hash
	began        int64 // where its header begins
	dataBegan    int64
	packed, size int64 // as its header says, or -1
	read         int64
}

// counted counts what is read of the file.
type counted struct {
	from *bufio.Reader
	at   int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.at += int64(n)
	return n, err
}

func (c *counted) ReadByte() (byte, error) {
	b, err := c.from.ReadByte()
	if err == nil {
		c.at++
	}
	return b, err
}

func newXZReader(from io.Reader) (*xzReader, error) {
	x := &xzReader{in: &counted{from: bufio.NewReader(from)}}
	return x, x.stream()
}

// stream reads a stream's header.
func (x *xzReader) stream() error {
	head := make([]byte, 12)
	if err := x.whole(head); err != nil {
		return err
	}
	x.flags = head[6:8]
	if string(head[:6]) != xzMagic || crc32.ChecksumIEEE(x.flags) != binary.LittleEndian.Uint32(head[8:]) ||
		x.flags[0] != 0 {
		return errDamagedXZ
	}
	switch x.flags[1] {
	case 0:
		x.check = nil
	case 1:
		x.check = func() hash.Hash { return backwards{crc32.NewIEEE()} }
	case 4:
		x.check = func() hash.Hash { return backwards{crc64.New(crc64.MakeTable(crc64.ECMA))} }
	case 10:
		x.check = sha256.New
	default:
		return errDamagedXZ
	}
	x.blocks, x.sizes = 0, sha256.New()
	return nil
}

// backwards is a checksum in xz's order of bytes.
type backwards struct{ hash.Hash }

func (b backwards) Sum(to []byte) []byte {
	sum := b.Hash.Sum(nil)
	for i := range sum {
		to = append(to, sum[len(sum)-1-i])
	}
	return to
}

func (x *xzReader) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if x.block == nil {
			if err := x.next(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := x.block.content.Read(p)
		if x.block.read += int64(n); x.block.sum != nil {
			x.block.sum.Write(p[:n])
		}
		if errors.Is(err, io.EOF) {
			err = x.endBlock()
			x.block = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, nil
}

// next goes to the next block, of this stream or of one that follows. At the end of
// the last stream it gives io.EOF.
func (x *xzReader) next() error {
	began := x.in.at
	size, err := x.in.ReadByte()
	if err != nil {
		return early(err)
	}
	if size > 0 {
		x.block, err = x.openBlock(began, size)
		return err
	}
	if err := x.index(began); err != nil {
		return err
	}
	for {
		word, err := x.in.from.Peek(xzChunk)
		switch {
		case len(word) == 0 && errors.Is(err, io.EOF):
			return io.EOF
		case err != nil:
			return early(err)
		case !bytes.Equal(word, make([]byte, xzChunk)):
			return x.stream()
		}
		if err := x.whole(make([]byte, xzChunk)); err != nil { // padding between streams
			return err
		}
	}
}

// openBlock reads a block's header, behind its first byte.
func (x *xzReader) openBlock(began int64, first byte) (*xzBlock, error) {
	size := 4 * (int(first) + 1)
	header := make([]byte, size)
	header[0] = first
	if err := x.whole(header[1:]); err != nil {
		return nil, err
	}
	fields := header[1 : size-4]
	if crc32.ChecksumIEEE(header[:size-4]) != binary.LittleEndian.Uint32(header[size-4:]) || fields[0]&0x3f != 0 {
		return nil, errDamagedXZ // the flags stand for more than one filter, or for what is not known
	}
	block := &xzBlock{began: began, packed: -1, size: -1}
	rest := fields[1:]
	for _, field := range []struct {
		flag byte
		into *int64
	}{{0x40, &block.packed}, {0x80, &block.size}} {
		if fields[0]&field.flag == 0 {
			continue
		}
		value, n := binary.Uvarint(rest)
		if n <= 0 || value > 1<<62 {
			return nil, errDamagedXZ
		}
		*field.into, rest = int64(value), rest[n:]
	}
	if len(rest) < 3 || rest[0] != xzLZMA2 || rest[1] != 1 || !zero(rest[3:]) {
		return nil, errDamagedXZ
	}
	return block, x.openData(block, rest[2])
}

// openData begins to read a block's contents. Its dictionary is as large as the
// property says.
func (x *xzReader) openData(block *xzBlock, property byte) error {
	dictionary, err := lzma.DecodeDictCap(property)
	if err != nil {
		return errDamagedXZ
	}
	if dictionary > maxWindow {
		return fmt.Errorf("%w: a block of xz needs %d bytes of memory, and is given %d at most", ErrTooLarge, dictionary,
			int64(maxWindow))
	}
	if x.check != nil {
		block.sum = x.check()
	}
	block.dataBegan = x.in.at
	block.content, err = lzma.Reader2Config{DictCap: int(max(dictionary, lzma.MinDictCap))}.NewReader2(x.in)
	return early(err)
}

// endBlock reads what follows a block's contents, and compares.
func (x *xzReader) endBlock() error {
	block := x.block
	packed := x.in.at - block.dataBegan
	if (block.packed >= 0 && block.packed != packed) || (block.size >= 0 && block.size != block.read) {
		return errDamagedXZ
	}
	if err := x.padding(packed); err != nil {
		return err
	}
	// The index counts the block without its padding.
	unpadded := block.dataBegan - block.began + packed
	if block.sum != nil {
		want := make([]byte, block.sum.Size())
		if err := x.whole(want); err != nil {
			return err
		}
		if !bytes.Equal(block.sum.Sum(nil), want) {
			return errDamagedXZ
		}
		unpadded += int64(len(want))
	}
	x.blocks++
	x.sizes.Write(record(uint64(unpadded), uint64(block.read))) //nolint:gosec // G115: sizes are not negative
	return nil
}

func record(unpadded, size uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, unpadded), size)
}

// index reads the index of a stream, behind its first byte, and the footer. The
// records have to be those of the blocks that were read.
func (x *xzReader) index(began int64) error {
	sum := crc32.NewIEEE()
	tee := &summed{x.in, sum}
	sum.Write([]byte{0})
	records, err := tee.number()
	if err != nil || records != x.blocks {
		return errors.Join(errDamagedXZ, err)
	}
	sizes := sha256.New()
	for range records {
		unpadded, err := tee.number()
		if err != nil {
			return err
		}
		size, err := tee.number()
		if err != nil {
			return err
		}
		sizes.Write(record(unpadded, size))
	}
	for (x.in.at-began)%xzChunk != 0 {
		if b, err := tee.ReadByte(); err != nil || b != 0 {
			return errors.Join(errDamagedXZ, err)
		}
	}
	length := x.in.at - began + 4
	tail := make([]byte, 4+12)
	if err := x.whole(tail); err != nil {
		return err
	}
	footer := tail[4:]
	switch {
	case !bytes.Equal(sizes.Sum(nil), x.sizes.Sum(nil)),
		sum.Sum32() != binary.LittleEndian.Uint32(tail),
		crc32.ChecksumIEEE(footer[4:10]) != binary.LittleEndian.Uint32(footer),
		4*(int64(binary.LittleEndian.Uint32(footer[4:]))+1) != length,
		!bytes.Equal(footer[8:10], x.flags), string(footer[10:]) != xzFooterMagic:
		return errDamagedXZ
	}
	return nil
}

// summed is an index that is read and summed up.
type summed struct {
	in  *counted
	sum hash.Hash
}

func (s *summed) ReadByte() (byte, error) {
	b, err := s.in.ReadByte()
	if err != nil {
		return 0, early(err)
	}
	s.sum.Write([]byte{b})
	return b, nil
}

func (s *summed) number() (uint64, error) {
	number, err := binary.ReadUvarint(s)
	if err == nil && number >= 1<<63 {
		err = errDamagedXZ
	}
	return number, err
}

// padding reads the zeros that fill up a part of this length.
func (x *xzReader) padding(length int64) error {
	filler := make([]byte, -length&(xzChunk-1))
	if err := x.whole(filler); err != nil {
		return err
	}
	if !zero(filler) {
		return errDamagedXZ
	}
	return nil
}

func (x *xzReader) whole(part []byte) error {
	_, err := io.ReadFull(x.in, part)
	return early(err)
}

func zero(part []byte) bool { return len(bytes.Trim(part, "\x00")) == 0 }

// early makes an end in the middle an error of its own.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
