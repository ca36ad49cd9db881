package textencoding

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrUnknown is in the error of a text that is in no encoding that is read.
var ErrUnknown = errors.New("only UTF-8, and UTF-16 with a byte order mark, are read")

// UTF8 is a text in UTF-8, or in UTF-16 with a byte order mark, as UTF-8 without one. An encoding that would have to be guessed is refused: a
// name or a word that is read in the wrong one is another.
func UTF8(raw []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(raw, []byte("\x00\x00\xfe\xff")):
		return nil, fmt.Errorf("its byte order mark says UTF-32: %w", ErrUnknown)
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
		return fromUTF16(raw[2:], binary.LittleEndian)
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return fromUTF16(raw[2:], binary.BigEndian)
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	const most = 4 // of plain text in UTF-16 every second byte is zero
	if zeros := bytes.Count(raw, []byte{0}); zeros > len(raw)/most {
		return nil, fmt.Errorf("%d of its %d bytes are zero, as in UTF-16 without a byte order mark: %w", zeros, len(raw),
			ErrUnknown)
	}
	if at := notUTF8(raw); at >= 0 {
		return nil, fmt.Errorf("line %d: byte 0x%02x is not UTF-8: %w. hint: convert it first, such as from Windows: "+
			"iconv -f WINDOWS-1252 -t UTF-8", 1+bytes.Count(raw[:at], []byte("\n")), raw[at], ErrUnknown)
	}
	return raw, nil
}

// notUTF8 is where the first byte stands that is not UTF-8; -1 without any.
func notUTF8(raw []byte) int {
	for at := 0; at < len(raw); {
		r, size := utf8.DecodeRune(raw[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// fromUTF16 decodes what stands behind a byte order mark. Half of a pair is U+FFFD.
func fromUTF16(raw []byte, order binary.ByteOrder) ([]byte, error) {
	const unit = 2
	if len(raw)%unit != 0 {
		return nil, fmt.Errorf("its byte order mark says UTF-16, and it has an odd number of bytes: it was cut, or is "+
			"something else: %w", ErrUnknown)
	}
	units := make([]uint16, len(raw)/unit)
	for i := range units {
		units[i] = order.Uint16(raw[unit*i:])
	}
	return []byte(string(utf16.Decode(units))), nil
}
