package archive

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// ErrTooLarge says that there is more than the caller allows, or more than a stream
// of its size has any reason to hold.
var ErrTooLarge = errors.New("it is larger than allowed")

const (
	// maxWindow bounds what one stream makes its reader hold, in bytes: what xz -9
	// takes. The highest ordinary level of zstd takes 8 MiB.
	maxWindow = 64 << 20
	// maxRatio bounds what a stream grows by. Programs and lists of packages grow some
	// 4 to 20 times; gzip could 1,000 times, xz and zstd 7,000 times and more.
	maxRatio = 100
	// unsuspicious output is not held against the ratio, in bytes.
	unsuspicious = 4 << 20
	// readAtOnce bounds one step of decompressing, in bytes: the context is looked at
	// between steps.
	readAtOnce = 64 << 10
)

// Decompress opens a stream by how it begins: gzip, xz or zstd; anything else is
// given as it is. It ends with ErrTooLarge after limit bytes, and with the context's
// cause when that ends.
func Decompress(ctx context.Context, in io.Reader, limit int64) (io.ReadCloser, error) {
	packed := &source{ctx: ctx, from: in}
	head := make([]byte, 6)
	n, err := io.ReadFull(packed, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	head = head[:n]
	opened, err := open(head, io.MultiReader(bytes.NewReader(head), packed))
	if err != nil {
		return nil, fmt.Errorf("opening the compressed stream: %w", err)
	}
	return &bounded{packed: packed, from: opened, left: limit}, nil
}

func open(head []byte, whole io.Reader) (io.ReadCloser, error) {
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return gzip.NewReader(whole)
	case bytes.HasPrefix(head, []byte(xzMagic)):
		reader, err := newXZReader(whole)
		return io.NopCloser(reader), err
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		reader, err := zstd.NewReader(whole, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return reader.IOReadCloser(), nil
	}
	return io.NopCloser(whole), nil
}

// source counts what is read of a stream, and ends with its context: a decompressor
// may read much before it gives anything.
type source struct {
	ctx  context.Context
	from io.Reader
	size int64
}

func (s *source) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, fmt.Errorf("unpacking: %w", context.Cause(s.ctx))
	}
	n, err := s.from.Read(p)
	s.size += int64(n)
	return n, err
}

// bounded ends with an error, not with an early end, when there is too much.
type bounded struct {
	packed *source
	from   io.ReadCloser
	left   int64
	given  int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.packed.ctx.Err() != nil {
		return 0, fmt.Errorf("unpacking: %w", context.Cause(b.packed.ctx))
	}
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	p = p[:min(int64(len(p)), b.left+1, readAtOnce)]
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrTooLarge
	}
	if b.given += int64(n); b.given > unsuspicious && b.given/maxRatio > b.packed.size {
		b.left = -1
		return 0, fmt.Errorf("%w: it unpacks to more than %d times its size", ErrTooLarge, maxRatio)
	}
	return n, err
}

func (b *bounded) Close() error { return b.from.Close() }
