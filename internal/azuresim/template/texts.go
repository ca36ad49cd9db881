package template

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// stringFunctions are the functions of strings. Searches are without case where ARM's are.
func stringFunctions() map[string]*function {
	return map[string]*function{
		"toLower": eachText(1, func(s []string) (any, error) { return strings.ToLower(s[0]), nil }),
		"toUpper": eachText(1, func(s []string) (any, error) { return strings.ToUpper(s[0]), nil }),
		"trim":    eachText(1, func(s []string) (any, error) { return strings.TrimSpace(s[0]), nil }),
		"replace": eachText(3, func(s []string) (any, error) { return replaced(s[0], s[1], s[2]) }),
		"startsWith": eachText(2, func(s []string) (any, error) {
			return strings.HasPrefix(strings.ToLower(s[0]), strings.ToLower(s[1])), nil
		}),
		"endsWith": eachText(2, func(s []string) (any, error) {
			return strings.HasSuffix(strings.ToLower(s[0]), strings.ToLower(s[1])), nil
		}),
		"indexOf": eachText(2, func(s []string) (any, error) {
			return number(int64(strings.Index(strings.ToLower(s[0]), strings.ToLower(s[1])))), nil
		}),
		"lastIndexOf": eachText(2, func(s []string) (any, error) {
			return number(int64(strings.LastIndex(strings.ToLower(s[0]), strings.ToLower(s[1])))), nil
		}),
		"base64": eachText(1, func(s []string) (any, error) { return base64.StdEncoding.EncodeToString([]byte(s[0])), nil }),
		"base64ToString": eachText(1, func(s []string) (any, error) {
			raw, err := base64.StdEncoding.DecodeString(s[0])
			if err != nil {
				return nil, errors.New("the string is not base64")
			}
			return string(raw), nil
		}),
		"split":     pure(2, 2, split),
		"padLeft":   pure(2, 3, padLeft),
		"substring": pure(1, 3, substring),
		"format":    pure(1, -1, format),
		"string":    pure(1, 1, func(a []any) (any, error) { return text(a[0]), nil }),
		"json":      eachText(1, func(s []string) (any, error) { return fromJSON(s[0]) }),
		// uniqueString and guid depend on what they are given and on nothing else, as ARM's do; the values
		// are others than ARM's.
		"uniqueString": hashed(func(sum []byte) string {
			return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum))[:13]
		}),
		"guid": hashed(func(sum []byte) string {
			sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
			return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
		}),
	}
}

// largest bounds what one function makes, in bytes or items.
const largest = 1 << 20

var errTooLarge = errors.New("the result is too large")

func hashed(write func(sum []byte) string) *function {
	return pure(1, -1, func(a []any) (any, error) {
		hash := sha256.New()
		for i := range a {
			part, err := textAt(a, i)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(hash, "%d-%s", len(part), part)
		}
		return write(hash.Sum(nil)), nil
	})
}

func replaced(whole, old, by string) (any, error) {
	if old == "" {
		return nil, errors.New("there is nothing to replace")
	}
	if strings.Count(whole, old)*len(by)+len(whole) > largest {
		return nil, errTooLarge
	}
	return strings.ReplaceAll(whole, old, by), nil
}

// split takes one delimiter or an array of them.
func split(a []any) (any, error) {
	whole, err := textAt(a, 0)
	if err != nil {
		return nil, err
	}
	delimiters, isList := a[1].([]any)
	if !isList {
		delimiters = []any{a[1]}
	}
	parts := []string{whole}
	for i := range delimiters {
		delimiter, err := textAt(delimiters, i)
		if err != nil || delimiter == "" {
			return nil, errors.New("a delimiter must be a string that is not empty")
		}
		var finer []string
		for _, part := range parts {
			finer = append(finer, strings.Split(part, delimiter)...)
		}
		parts = finer
	}
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = part
	}
	return list, nil
}

func padLeft(a []any) (any, error) {
	width, err := integerAt(a, 1)
	if err != nil {
		return nil, err
	}
	with := " "
	if len(a) == 3 {
		if with, err = textAt(a, 2); err != nil || len(with) != 1 {
			return nil, errors.New("the padding must be one character")
		}
	}
	if width > largest {
		return nil, errTooLarge
	}
	whole := text(a[0])
	return strings.Repeat(with, max(int(width)-len(whole), 0)) + whole, nil
}

func substring(a []any) (any, error) {
	whole, err := textAt(a, 0)
	if err != nil {
		return nil, err
	}
	start, length := int64(0), int64(len(whole))
	if len(a) > 1 {
		if start, err = integerAt(a, 1); err != nil {
			return nil, err
		}
		length -= start
	}
	if len(a) > 2 {
		if length, err = integerAt(a, 2); err != nil {
			return nil, err
		}
	}
	if size := int64(len(whole)); start < 0 || length < 0 || start > size || length > size-start {
		return nil, errors.New("the index and length must be inside of the string")
	}
	return whole[start : start+length], nil
}

// format knows {0} and {{, of .NET's composite formats. Those with a width or a pattern it refuses.
func format(a []any) (any, error) {
	pattern, err := textAt(a, 0)
	if err != nil {
		return nil, err
	}
	var made strings.Builder
	for i := 0; i < len(pattern) && made.Len() <= largest; i++ {
		c := pattern[i]
		switch {
		case c != '{' && c != '}':
			made.WriteByte(c)
		case i+1 < len(pattern) && pattern[i+1] == c:
			made.WriteByte(c)
			i++
		default:
			inside, _, closed := strings.Cut(pattern[i+1:], "}")
			n, err := strconv.Atoi(inside)
			if c == '}' || !closed || err != nil || n < 0 || n+1 >= len(a) {
				return nil, fmt.Errorf("the format has a place that is not one of its %d values", len(a)-1)
			}
			made.WriteString(text(a[n+1]))
			i += len(inside) + 1
		}
	}
	if made.Len() > largest {
		return nil, errTooLarge
	}
	return made.String(), nil
}

func fromJSON(written string) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(written)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, errors.New("the string is not JSON")
	}
	return value, nil
}
