package results

import "bytes"

// signature is how files begin that hold no text, whatever they are called.
type signature struct {
	at    int
	magic string
	is    string // what to say of it
}

const (
	archive = "an archive: unpack it first"
	binary  = "binary"
)

// signatures are those of https://en.wikipedia.org/wiki/List_of_file_signatures that lie about in folders of results.
func signatures() []signature {
	return []signature{
		{0, "PK\x03\x04", archive}, {0, "PK\x05\x06", archive}, {257, "ustar", archive}, {0, "7z\xbc\xaf\x27\x1c", archive},
		{0, "Rar!\x1a\x07", archive}, {0, "!<arch>\n", archive}, {0, "\xfd7zXZ\x00", archive}, {0, "BZh", archive},
		{0, "\x7fELF", binary}, {0, "\xcf\xfa\xed\xfe", binary}, {0, "\xca\xfe\xba\xbe", binary}, {0, "\x00asm", binary},
		{0, "\x89PNG\r\n", binary}, {0, "\xff\xd8\xff", binary}, {0, "GIF8", binary}, {0, "%PDF-", binary},
		{0, "RIFF", binary}, {0, "\x1aE\xdf\xa3", binary}, {4, "ftyp", binary}, {0, "SQLite format 3\x00", binary},
		{0, "\xd4\xc3\xb2\xa1", binary}, {0, "\n\r\r\n", binary},
	}
}

// noText is why the beginning of a file is not that of a text, or empty. Behind a short magic there may be one, if no
// control characters come.
func noText(start []byte) string {
	for _, s := range signatures() {
		if len(start) > s.at && bytes.HasPrefix(start[s.at:], []byte(s.magic)) && (len(s.magic) > 4 || controlled(start)) {
			return s.is
		}
	}
	return ""
}

// controlled says whether a file begins with bytes that no text has.
func controlled(start []byte) bool {
	return bytes.ContainsFunc(start[:min(len(start), firstBlock)], func(r rune) bool { return control(r) && r != 0x1b })
}

const firstBlock = 8000 // bytes; git looks at as many

// mostlyControl says whether control characters are so many that they are no disturbance of a text. Serial consoles
// write single NULs, and a log that was cut while it was open begins with a run of them.
func mostlyControl(start []byte) bool {
	block := bytes.TrimLeft(start, "\x00")
	block = block[:min(len(block), firstBlock)]
	var nul, other int
	for _, char := range block {
		switch char {
		case 0:
			nul++
		case '\t', '\n', '\r', '\f', '\b', 0x1b: // terminals
		default:
			if char < ' ' || char == 0x7f {
				other++
			}
		}
	}
	return 2*(nul+other) >= len(block) || other >= 16 && 20*other > len(block)
}
