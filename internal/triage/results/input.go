package results

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// kind is a format of results, told by content: names of files lie.
type kind string

const (
	kindGoTest kind = "go test -json"
	kindJUnit  kind = "JUnit XML"
	kindLog    kind = "plain log"
)

// sniffed is how much of a file is looked at to tell its kind.
const sniffed = 256 << 10

// decompress takes gzip and Zstandard off, also one in the other.
func decompress(in io.Reader) (*bufio.Reader, error) {
	reader := bufio.NewReaderSize(in, sniffed)
	for range 3 {
		magic, err := reader.Peek(4)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		var inner io.Reader
		switch {
		case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
			inner, err = gzip.NewReader(reader)
		case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
			// One goroutine, and a window that a small file can't blow up.
			inner, err = zstd.NewReader(reader, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(32<<20))
		default:
			return reader, nil
		}
		if err != nil {
			return nil, err
		}
		reader = bufio.NewReaderSize(inner, sniffed)
	}
	return nil, errors.New("compressed more than twice")
}

// decode makes UTF-8 of a file whose byte order mark or XML declaration says that it is something else. The name is
// that of an encoding which is declared and not known.
func decode(in *bufio.Reader) (decoded *bufio.Reader, unknown string) {
	start, _ := in.Peek(1024) // a short file is looked at as far as it goes
	if bytes.HasPrefix(start, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3)
		return in, ""
	}
	var from encoding.Encoding
	switch {
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		from = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	case bytes.HasPrefix(start, []byte("<\x00?\x00")):
		from = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case bytes.HasPrefix(start, []byte("\x00<\x00?")):
		from = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	default:
		declared := declaredEncoding(start)
		switch strings.ToLower(declared) {
		case "", "utf-8", "utf8", "us-ascii", "ascii":
			return in, ""
		case "utf-16", "utf-16le", "utf-16be", "unicode":
			return in, "" // the declaration could be read, so it isn't: .NET writes such files
		case "iso-8859-1", "latin1", "iso_8859-1":
			from = charmap.ISO8859_1
		case "iso-8859-15":
			from = charmap.ISO8859_15
		case "windows-1252", "cp1252":
			from = charmap.Windows1252
		default:
			return in, declared
		}
	}
	return bufio.NewReaderSize(transform.NewReader(in, from.NewDecoder()), sniffed), ""
}

func declaredEncoding(start []byte) string {
	declaration := regexp.MustCompile(`^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"'>]*)["']`)
	if found := declaration.FindSubmatch(start); found != nil {
		return string(found[1])
	}
	return ""
}

// sniff tells the kind of what comes, or the reason why it is none.
func sniff(in *bufio.Reader) (kind, string) {
	start, err := in.Peek(sniffed)
	blank := len(bytes.TrimSpace(start)) == 0
	switch {
	case blank && errors.Is(err, io.EOF):
		return "", "empty"
	case blank && err != nil:
		return "", "can't be read: " + err.Error()
	case markup(bytes.TrimLeft(start, "\x00 \t\r\n")):
		return kindJUnit, ""
	case noText(start) != "":
		return "", noText(start)
	case holdsEvent(start):
		return kindGoTest, ""
	case mostlyControl(start):
		return "", binary
	}
	return kindLog, ""
}

// markup says whether a text begins as XML does. A log whose first line is "<nil>" is none.
func markup(text []byte) bool {
	return regexp.MustCompile(`^<(\?xml|!--|!DOCTYPE|[A-Za-z][\w:.-]*(\s+[\w:.-]+\s*=|\s*/?>\s*(<|$)))`).Match(text)
}

// holdsEvent says whether a line is an event of test2json.
func holdsEvent(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = withoutNUL(line); bytes.HasPrefix(line, []byte("{")) {
			var e event
			if json.Unmarshal(line, &e) == nil && e.known() {
				return true
			}
		}
	}
	return false
}

// withoutNUL is a line as JSON can be read from it: what wrote it to a console or a pipe may have put NULs around or
// into it, which U+FFFD stands for.
func withoutNUL(line []byte) []byte {
	line = bytes.Trim(line, "\x00 \t\r\n")
	return bytes.ReplaceAll(line, []byte{0}, []byte("\ufffd"))
}
