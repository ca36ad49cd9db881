package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"salve/internal/lazyregexp"
)

// slackMessage is one message of Slack's JSON export.
type slackMessage struct {
	Type     string          `json:"type"`
	Subtype  string          `json:"subtype"`
	User     string          `json:"user"`
	Username string          `json:"username"`
	BotID    string          `json:"bot_id"`
	TS       json.RawMessage `json:"ts"`
	Text     string          `json:"text"`
	Edited   any             `json:"edited"`
	Profile  struct {
		Display string `json:"display_name"`
		Real    string `json:"real_name"`
		Name    string `json:"name"`
	} `json:"user_profile"`
	BotProfile struct {
		Name string `json:"name"`
	} `json:"bot_profile"`
}

var slackMarkup = lazyregexp.New(`<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>`)

// parseSlack reads Slack's JSON export: an array of messages, or an answer of its API with one. Its times are UTC.
func parseSlack(raw []byte, options Options) (Export, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := toArray(decoder); err != nil {
		return Export{}, fmt.Errorf("reading the chat export as JSON: %w", err)
	}
	names := map[string]string{}
	asked := &questions{}
	var export Export
	line, counted := 1, 0
	for decoder.More() {
		if len(export.Messages) >= maxMessages {
			return Export{}, fmt.Errorf("line %d: %w: more than %d messages", line, ErrTooLarge, maxMessages)
		}
		start := int(decoder.InputOffset())
		start += len(raw[start:]) - len(bytes.TrimLeft(raw[start:], " \t\r\n,"))
		line += bytes.Count(raw[counted:start], []byte("\n"))
		counted = start
		var m slackMessage
		err := decoder.Decode(&m)
		if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) && other.Field != "" {
			// One field of one message is not as Slack writes it: the others are worth reading.
			asked.ask(line, "what is %q of this message? It is a %s, not as Slack exports it",
				cleanLine(other.Field), other.Value)
		} else if err != nil {
			return Export{}, fmt.Errorf("line %d: reading a message of the JSON export: %w", line, err)
		}
		if strings.HasSuffix(m.Subtype, "_join") || strings.HasSuffix(m.Subtype, "_leave") {
			continue
		}
		message := m.message(line, asked)
		message.Channel = options.Channel
		if m.User != "" && message.Author != m.User {
			names[m.User] = message.Author
		}
		export.Messages = append(export.Messages, message)
	}
	if _, err := decoder.Token(); err != nil {
		return Export{}, fmt.Errorf("line %d: the JSON export ends early: %w", line, err)
	}
	for i := range export.Messages {
		m := &export.Messages[i]
		if name := names[m.Author]; name != "" {
			m.Author = name
		}
		m.Text = slackText(m.Text, names)
	}
	slices.SortStableFunc(export.Messages, func(a, b Message) int { return a.At.Compare(b.At) })
	export.Questions = asked.sorted()
	return export, nil
}

// toArray goes to the array of messages: the whole document, or its field "messages".
func toArray(decoder *json.Decoder) error {
	token, err := decoder.Token()
	if err != nil || token == json.Delim('[') {
		return err
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		if key == "messages" {
			if token, err = decoder.Token(); err == nil && token != json.Delim('[') {
				err = fmt.Errorf("messages is no array")
			}
			return err
		}
		var skipped json.RawMessage
		if err := decoder.Decode(&skipped); err != nil {
			return err
		}
	}
	return fmt.Errorf("it has no messages")
}

func (m slackMessage) message(line int, asked *questions) Message {
	found := Message{Line: line, Bot: m.BotID != "" || m.Subtype == "bot_message", Edited: m.Edited != nil, Text: m.Text}
	for _, name := range []string{m.Profile.Display, m.Profile.Real, m.Profile.Name, m.Username, m.BotProfile.Name,
		m.User, m.BotID} {
		if found.Author = strings.TrimSpace(cleanLine(name)); found.Author != "" {
			break
		}
	}
	// Slack writes it as a text; programs that handled the export may have made it a number.
	whole, _, _ := strings.Cut(strings.Trim(string(m.TS), `"`), ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds < 946684800 || seconds > 4102444800 { // the years 2000 to 2100
		asked.ask(line, "when was this message? Its ts is no time")
		return found
	}
	found.At = time.Unix(seconds, 0).UTC()
	found.Date = found.At.Format(time.DateOnly)
	found.Clock = Clock{found.At.Hour(), found.At.Minute(), found.At.Second()}
	return found
}

// slackText is a text without Slack's markup, its users by name.
func slackText(text string, names map[string]string) string {
	text = slackMarkup.ReplaceAllStringFunc(text, func(found string) string {
		m := slackMarkup.FindStringSubmatch(found)
		kind, target, label := m[1], m[2], m[3]
		if kind == "!" {
			kind = "@"
		}
		switch {
		case kind == "@" && label == "" && names[target] != "":
			return "@" + names[target]
		case kind != "" && label != "":
			return kind + strings.TrimPrefix(label, "@")
		case label != "":
			return label + " (" + target + ")"
		}
		return kind + target
	})
	lines := strings.Split(html.UnescapeString(text), "\n")
	for i := range lines {
		lines[i] = cleanLine(lines[i])
	}
	return strings.Join(lines, "\n")
}
