package writefiles

// space goes over white space, line feeds and comments between the parts of a flow
// collection.
func (r *reader) space() error {
	for !r.ended() {
		switch c := r.peek(0); {
		case c == ' ' || c == '\t':
			r.at++
		case c == '\n':
			r.newline()
			if r.atMarker() {
				return r.wrong("a list or mapping in brackets has no end")
			}
		case c == '#' && (r.column() == 0 || blank(r.text[r.at-1])):
			for r.peek(0) != '\n' {
				r.at++
			}
		default:
			return nil
		}
	}
	return r.wrong("a list or mapping in brackets has no end")
}

// each reads the parts of a flow collection, which begins here and ends with last.
func (r *reader) each(last byte, part func() error) error {
	r.at++
	for {
		if err := r.space(); err != nil {
			return err
		}
		if r.peek(0) == last {
			r.at++
			return nil
		}
		if err := part(); err != nil {
			return err
		}
		if err := r.space(); err != nil {
			return err
		}
		switch r.peek(0) {
		case ',':
			r.at++
		case last:
		default:
			return r.wrong("a comma or %q is expected, and not %q", last, r.peek(0))
		}
	}
}

// flowRoot reads a document that is one mapping in braces.
func (r *reader) flowRoot() error {
	seen := false
	err := r.each('}', func() error {
		name, err := r.flowKey()
		switch {
		case err != nil:
			return err
		case name != listName || seen:
			return r.wrong("%s is expected, once, and not %.40q", listName, name)
		case r.peek(0) != '[':
			return r.wrong("%s has to be a list", listName)
		}
		seen = true
		return r.flowList()
	})
	if err == nil && !seen {
		err = r.wrong("there is no %s", listName)
	}
	if err != nil {
		return err
	}
	return r.endLine()
}

// flowList reads a list in brackets of mappings in braces.
func (r *reader) flowList() error {
	return r.each(']', func() error {
		if r.peek(0) != '{' {
			return r.wrong("an entry has to be a mapping with a path and a content")
		}
		entry, err := r.begin()
		if err != nil {
			return err
		}
		return r.flowEntry(entry)
	})
}

// flowEntry reads an entry in braces.
func (r *reader) flowEntry(entry *Entry) error {
	return r.each('}', func() error {
		into, err := r.flowField(entry)
		if err != nil {
			return err
		}
		*into, err = r.flowValue()
		return err
	})
}

func (r *reader) flowField(entry *Entry) (*Text, error) {
	name, err := r.flowKey()
	if err != nil {
		return nil, err
	}
	return r.into(entry, name)
}

// flowKey reads a name and its colon, and goes to the value. Behind a name in quotes
// the colon needs no space.
func (r *reader) flowKey() (name string, err error) {
	began, quote := r.line, r.peek(0)
	inQuotes := quote == '"' || quote == '\''
	if inQuotes {
		name, err = r.quoted()
	} else {
		name, err = r.plainOnLine(true)
	}
	if err != nil {
		return "", err
	}
	r.spaces()
	if r.line != began || r.peek(0) != ':' || !inQuotes && !blank(r.peek(1)) {
		return "", r.wrong("a name with a colon and a space behind it is expected")
	}
	r.at++
	return name, r.space()
}

// flowValue reads a value in braces.
func (r *reader) flowValue() (Text, error) {
	text := Text{Line: r.line}
	tag, err := r.tag()
	if err != nil {
		return Text{}, err
	}
	switch r.peek(0) {
	case '\'', '"':
		text.Value, err = r.quoted()
	default:
		text.Value, err = r.plainOnLine(true)
		if err == nil && tag == "" && !isText(text.Value) {
			err = r.wrong("%.40q is no text to all readers of YAML; it has to be put into quotes", text.Value)
		}
	}
	if err == nil {
		text.Value, err = r.untagged(tag, text)
	}
	return text, err
}
