package signing

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

const (
	maxAnswer = 4 << 10 // bytes of a command's output that are read
	// lingering is how long a command that was ended may keep its output open.
	lingering = time.Second
)

// command is a key behind a program, as a client of a KMS is one.
type command struct {
	words   []string
	options Options
}

func openCommand(line string, options Options) (Signer, error) {
	words, err := split(line)
	switch {
	case err != nil:
		return nil, fmt.Errorf("command %.100q: %w", line, err)
	case len(words) == 0:
		return nil, errors.New("exec: needs a command, such as exec:'kms-sign --key release'")
	case len(options.Public) != ed25519.PublicKeySize:
		return nil, errors.New("a key behind a command needs --public with its public key")
	}
	return command{words, options}, nil
}

func (c command) Public() ed25519.PublicKey { return c.options.Public }

// Sign runs the command, without a shell: the message on its input, the signature in base64 on its output.
func (c command) Sign(ctx context.Context, message []byte) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, c.options.Patience)
	defer cancel()
	process := exec.CommandContext(limited, c.words[0], c.words[1:]...)
	process.Stdin = bytes.NewReader(message)
	out, says := bounded{ends: true}, bounded{}
	process.Stdout, process.Stderr = &out, &says
	endWithChildren(process)
	process.WaitDelay = lingering
	err := process.Run()
	switch {
	case out.full:
		return nil, fmt.Errorf("%s printed more than %d bytes, and a signature in base64 is expected", c.words[0], maxAnswer)
	case limited.Err() != nil:
		return nil, fmt.Errorf("%s did not answer in time: %w", c.words[0], context.Cause(limited))
	case err != nil:
		return nil, fmt.Errorf("%s: %w%s", c.words[0], err, says.lastLine())
	}
	sig, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(out.kept.String()), ""))
	if err != nil || len(sig) != ed25519.SignatureSize {
		return nil, fmt.Errorf("%s did not print the base64 of %d bytes", c.words[0], ed25519.SignatureSize)
	}
	return sig, nil
}

// bounded keeps the beginning of what is written to it. Where it ends, more than that is an error, and with it the
// end of the pipe.
type bounded struct {
	kept       bytes.Buffer // not embedded: its ReadFrom would know no bound
	ends, full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), maxAnswer-b.kept.Len())
	b.kept.Write(p[:n])
	if b.full = b.full || n < len(p); b.full && b.ends {
		return n, io.ErrShortWrite
	}
	return len(p), nil
}

// lastLine is the last thing that a command said, short and printable.
func (b *bounded) lastLine() string {
	lines := strings.FieldsFunc(b.kept.String(), func(c rune) bool { return c == '\n' || c == '\r' })
	if len(lines) == 0 {
		return ""
	}
	return fmt.Sprintf(": %.300q", lines[len(lines)-1])
}

// split parts a command into words: at white space, but for what is in single or double quotes. There is no other
// meaning of any character.
func split(line string) ([]string, error) {
	var words []string
	word, in, quote := "", false, rune(0)
	for _, c := range line {
		switch {
		case c == quote:
			quote = 0
		case quote != 0:
			word += string(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case strings.ContainsRune(" \t\r\n", c):
			if in {
				words = append(words, word)
			}
			word, in = "", false
		default:
			word, in = word+string(c), true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if in {
		words = append(words, word)
	}
	return words, nil
}
