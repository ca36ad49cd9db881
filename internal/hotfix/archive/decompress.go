package archive

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// ErrTooLarge says that there is more than the caller allows.
var ErrTooLarge = errors.New("it is larger than allowed")

// zstdWindow bounds what one stream makes the reader hold, in bytes; zstd's highest
// ordinary level takes 8 MiB, and its own tool refuses more than 128.
const zstdWindow = 128 << 20

// Decompress opens a stream by how it begins: gzip, xz or zstd; anything else is
// given as it is. It ends with ErrTooLarge after limit bytes.
func Decompress(in io.Reader, limit int64) (io.ReadCloser, error) {
	head := make([]byte, 6)
	n, err := io.ReadFull(in, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	head = head[:n]
	whole := io.MultiReader(bytes.NewReader(head), in)
	opened, err := open(head, whole)
	if err != nil {
		return nil, fmt.Errorf("opening the compressed stream: %w", err)
	}
	return &bounded{from: opened, left: limit}, nil
}

func open(head []byte, whole io.Reader) (io.ReadCloser, error) {
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return gzip.NewReader(whole)
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		reader, err := xz.NewReader(whole)
		return io.NopCloser(reader), err
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		reader, err := zstd.NewReader(whole, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, err
		}
		return reader.IOReadCloser(), nil
	}
	return io.NopCloser(whole), nil
}

// bounded ends with an error, not with an early end, when there is too much.
type bounded struct {
	from io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrTooLarge
	}
	return n, err
}

func (b *bounded) Close() error { return b.from.Close() }
