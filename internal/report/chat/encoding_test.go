package chat_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"salve/internal/report/chat"
	"salve/internal/textencoding"
)

// inUTF16 is a text as Windows exports it.
func inUTF16(text string, order binary.AppendByteOrder) []byte {
	raw := order.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune(text)) {
		raw = order.AppendUint16(raw, unit)
	}
	return raw
}

// TestEncodingIsTold by the byte order mark, or it is UTF-8; it is never guessed.
func TestEncodingIsTold(t *testing.T) {
	const text = "# 2019-02-05\r\n\r\nAll times in UTC\r\n\r\nJosé Ōta [14:05]\r\nrolling back 🚑\r\n"
	const slack = `[{"user":"U1","user_profile":{"display_name":"José Ōta"},"ts":"1549375500.0001","text":"rolling back 🚑"}]`
	for name, raw := range map[string][]byte{
		"UTF-8":                             []byte(text),
		"UTF-8 with a mark":                 []byte("\ufeff" + text),
		"UTF-16, the small end first":       inUTF16(text, binary.LittleEndian),
		"UTF-16, the big end first":         inUTF16(text, binary.BigEndian),
		"JSON in UTF-8 with a mark":         []byte("\ufeff" + slack),
		"JSON in UTF-16":                    inUTF16(slack, binary.LittleEndian),
		"JSON in UTF-16, the big end first": inUTF16(slack, binary.BigEndian),
	} {
		t.Run(name, func(t *testing.T) {
			export, err := chat.Parse(raw, chat.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(export.Messages) != 1 {
				t.Fatalf("%+v", export)
			}
			got := export.Messages[0]
			if got.Author != "José Ōta" || got.Text != "rolling back 🚑" || got.Clock.String() != "14:05" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestOtherEncodingsAreRefused: read as UTF-8, a name in them is another name.
func TestOtherEncodingsAreRefused(t *testing.T) {
	wide := inUTF16("Ann [14:05]\nhello\n", binary.LittleEndian)
	for name, row := range map[string]struct {
		raw  []byte
		want string
	}{
		"Latin 1":                        {[]byte("# 2019-02-05\n\nJos\xe9 [14:05]\nhello\n"), "line 3: byte 0xe9"},
		"Windows 1252":                   {[]byte("Ann [14:05]\n\x93hello\x94\n"), "line 2: byte 0x93 is not UTF-8"},
		"UTF-16 without a mark":          {wide[2:], "as in UTF-16 without a byte order mark"},
		"UTF-16 that was cut":            {wide[:len(wide)-1], "it has an odd number of bytes"},
		"UTF-32":                         {[]byte("\xff\xfe\x00\x00A\x00\x00\x00"), "says UTF-32"},
		"UTF-32, the big end first":      {[]byte("\x00\x00\xfe\xff\x00\x00\x00A"), "says UTF-32"},
		"UTF-8 that was cut in a letter": {[]byte("Ann [14:05]\nJos\xc3"), "line 2: byte 0xc3"},
	} {
		t.Run(name, func(t *testing.T) {
			export, err := chat.Parse(row.raw, chat.Options{})
			if !errors.Is(err, textencoding.ErrUnknown) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, %+v", err, export.Messages)
			}
		})
	}
}
