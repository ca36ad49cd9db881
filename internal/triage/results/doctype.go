package results

// documentType passes over one that declares nothing here: what it refers to is never fetched.
func (s *scanner) documentType() error {
	var quote byte
	for {
		char, err := s.byte()
		switch {
		case err != nil:
			return s.cutOff(err, "a document type")
		case quote != 0:
			if char == quote {
				quote = 0
			}
		case char == '"', char == '\'':
			quote = char
		case char == '[':
			return s.malformed("a document type with declarations of its own is refused")
		case char == '>':
			return nil
		}
	}
}
