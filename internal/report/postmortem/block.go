package postmortem

import (
	"bytes"
	"fmt"
	"strings"
)

// Block is a part of a written draft that is made again, and what it stood between at first.
type Block struct {
	ID SectionID
	// Heading and Foot are lines before and behind the block, which are never made again.
	Heading, Foot string
	// Body is what stands between the markers: whole lines. A block without one is its heading alone.
	Body string
	// Home is what a block that was deleted is put before, where the document has it; else it is put at the end.
	Home string
}

// Document writes a new document of blocks.
func Document(blocks []Block) []byte {
	var out bytes.Buffer
	for i, block := range blocks {
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(block.whole())
	}
	return out.Bytes()
}

// whole is a block with what it stands between.
func (b Block) whole() string {
	var parts []string
	if b.Heading != "" {
		parts = append(parts, b.Heading+"\n")
	}
	if b.Body != "" {
		parts = append(parts, b.marked())
	}
	text := strings.Join(parts, "\n")
	if b.Foot != "" {
		text += b.Foot + "\n"
	}
	return text
}

// marked is a block between its markers.
func (b Block) marked() string {
	return fmt.Sprintf("<!-- salve:begin %s sha256=%s -->\n%s<!-- salve:end %s -->\n", b.ID,
		digest([]byte(b.Body)), b.Body, b.ID)
}

// ended is a text with the ends of lines that a document has.
func ended(text string, crlf bool) []byte {
	if crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text)
}
