//go:build linux

package liveconfig

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"salve/internal/hotfix"
)

// The messages are two strings each, so they are written by hand here:
// https://protobuf.dev/programming-guides/encoding and
// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md.

// maxMessage bounds an answer, in bytes: a pointer, and some room around it.
const maxMessage = hotfix.MaxPointerSize + 4096

const (
	componentField = 1 // of the request and of the answer
	configField    = 2 // of the answer
)

// The wire types of protobuf.
const (
	varint     = 0
	eightBytes = 1
	delimited  = 2
	fourBytes  = 5
)

// request is the framed message that asks for a component's configuration.
func request(component string) []byte {
	message := binary.AppendUvarint(nil, componentField<<3|delimited)
	message = binary.AppendUvarint(message, uint64(len(component)))
	message = append(message, component...)
	framed := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))) //nolint:gosec // G115: some 20 bytes
	return append(framed, message...)
}

// oneMessage reads the one message of a unary answer, and that nothing follows.
func oneMessage(body io.Reader) ([]byte, error) {
	var prefix [5]byte
	if _, err := io.ReadFull(body, prefix[:]); err != nil {
		return nil, fmt.Errorf("reading the message's prefix: %w", err)
	}
	size := binary.BigEndian.Uint32(prefix[1:])
	switch {
	case prefix[0] != 0:
		return nil, errors.New("the message is compressed, which was not asked for")
	case size > maxMessage:
		return nil, fmt.Errorf("the message has %d bytes; at most %d are read", size, maxMessage)
	}
	message := make([]byte, size)
	if _, err := io.ReadFull(body, message); err != nil {
		return nil, fmt.Errorf("reading the message: %w", err)
	}
	if n, err := io.ReadFull(body, prefix[:1]); n > 0 || !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the message")
	}
	return message, nil
}

// answer is the decoded message.
type answer struct{ component, config string }

func decode(message []byte) (answer, error) {
	var decoded answer
	for len(message) > 0 {
		key, n := binary.Uvarint(message)
		if n <= 0 || key>>3 == 0 {
			return answer{}, errors.New("a field has no number")
		}
		value, rest, err := field(message[n:], key&7)
		if err != nil {
			return answer{}, fmt.Errorf("field %d: %w", key>>3, err)
		}
		message = rest
		if key>>3 != componentField && key>>3 != configField {
			continue // a field of a later version
		}
		if key&7 != delimited || !utf8.Valid(value) {
			return answer{}, fmt.Errorf("field %d is not a text", key>>3)
		}
		if key>>3 == componentField {
			decoded.component = string(value)
		} else {
			decoded.config = string(value)
		}
	}
	return decoded, nil
}

// field takes one value off a message.
func field(message []byte, wire uint64) (value, rest []byte, err error) {
	number, n := binary.Uvarint(message)
	size := 0
	switch wire {
	case varint:
		size = n
	case eightBytes:
		n, size = 0, 8
	case fourBytes:
		n, size = 0, 4
	case delimited:
		if n <= 0 || number > uint64(len(message)-n) { //nolint:gosec // G115: n is at most the length
			return nil, nil, io.ErrUnexpectedEOF
		}
		end := n + int(number) //nolint:gosec // G115: at most the length, see above
		return message[n:end], message[end:], nil
	default:
		return nil, nil, fmt.Errorf("there is no wire type %d", wire)
	}
	if n < 0 || size <= 0 || size > len(message) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return message[:size], message[size:], nil
}
