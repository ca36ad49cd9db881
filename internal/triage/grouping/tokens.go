package grouping

import "strings"

// wildcard stands for a token that varies.
const wildcard = "<*>"

// maxTokens bounds what a line costs; what is beyond is one token.
const maxTokens = 256

// tokens splits a line into words and punctuation. Parts that are variable as they stand are wildcards, and what
// repeats is there once: how many addresses a list has is no part of the statement that prints it.
func tokens(line string) []string {
	masked := Mask(line)
	var split []string
	start := 0
	word := func(end int) {
		if start < end {
			split = append(split, masked[start:end])
		}
		start = end + 1
	}
	for i := 0; i < len(masked); i++ {
		if len(split) >= maxTokens {
			split = append(split, masked[max(start, i):])
			start = len(masked)
			break
		}
		switch c := masked[i]; {
		case c == '<' && markAt(masked[i:]) != "":
			i += len(markAt(masked[i:])) - 1
		case c <= ' ':
			word(i)
		case strings.IndexByte("=:,;()[]{}\"'|<>@!?*&^$`", c) >= 0:
			word(i)
			if emptied(masked, i) {
				split = append(split, wildcard)
			}
			split = append(split, masked[i:i+1])
		}
	}
	word(len(masked))
	return collapse(split)
}

// emptied says whether a bracket closes one that stands free with nothing in it: "from ()" is "from (host)" without a
// host, whereas "clear()" is a call.
func emptied(line string, at int) bool {
	if at < 2 || line[at] != ')' && line[at] != ']' {
		return false
	}
	opening := byte('(')
	if line[at] == ']' {
		opening = '['
	}
	return line[at-1] == opening && (line[at-2] == ' ' || line[at-2] == '=')
}

// collapse puts wildcards for variable tokens, and leaves out repetitions.
func collapse(tokens []string) []string {
	kept := make([]string, 0, len(tokens))
	for _, token := range tokens {
		if variable(token) {
			token = wildcard
		}
		if last := len(kept) - 1; last >= 0 && isPunctuation(token) && kept[last] == token {
			continue
		}
		kept = append(kept, token)
		if !marked(token) {
			continue
		}
		for {
			n := len(kept)
			if n >= 2 && kept[n-2] == token {
				kept = kept[:n-1]
				continue
			}
			if n >= 3 && kept[n-3] == token && len(kept[n-2]) == 1 && strings.Contains(",:/|#@-.x+*", kept[n-2]) {
				kept = kept[:n-2]
				continue
			}
			break
		}
	}
	return kept
}

func isPunctuation(token string) bool { return len(token) == 1 && !isWord(token[0]) }

// marked says whether a token has a mark or is the wildcard.
func marked(token string) bool { return len(token) > 2 && strings.IndexByte(token, '<') >= 0 }

// variable says whether a token is a value wherever it stands: nothing but marks, a path, the name of a host.
func variable(token string) bool {
	if strings.HasPrefix(token, markPath) || len(token) > 1 && token[0] == '/' || isHostName(token) {
		return true
	}
	if !marked(token) || token == wildcard {
		return token == wildcard
	}
	for at := 0; at < len(token); {
		if mark := markAt(token[at:]); mark != "" {
			at += len(mark)
			continue
		}
		if isWord(token[at]) {
			return false
		}
		at++
	}
	return true
}

// isHostName is for names of at least three parts of which the last is of small letters: those of classes end with
// a capital.
func isHostName(token string) bool {
	last := strings.LastIndexByte(token, '.')
	if last < 0 || last == len(token)-1 || strings.Count(token, ".") < 2 || strings.Contains(token, "..") {
		return false
	}
	for i := range len(token) {
		c := token[i]
		switch {
		case i > last && !isLower(c):
			return false
		case !isAlnum(c) && strings.IndexByte(".-<>", c) < 0:
			return false
		}
	}
	return true
}

// likeParameter says whether a token looks like a value: it has a mark, or punctuation that words don't have, or it is
// one of the values that have a name.
func likeParameter(token string) bool {
	if raised(token) { // which error it is, is what a line says
		return false
	}
	if marked(token) || strings.ContainsAny(token, `/\@~%$`) {
		return true
	}
	if dot := strings.IndexByte(token, '.'); dot >= 0 && token[len(token)-1] != '.' && len(token) > 3 {
		return true
	}
	switch strings.ToLower(token) {
	case "true", "false", "null", "none", "nil":
		return true
	}
	return false
}
