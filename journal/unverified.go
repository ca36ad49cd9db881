package journal

import "fmt"

// UnverifiedError says that the seals of a record were not verified, because its key can't be had here. That is no
// broken record: nothing was seen to be wrong with it. It unwraps to *KeyError.
type UnverifiedError struct {
	Run string
	// History is what the record says: its hashes were followed, and anybody may have written it. It is for showing, with
	// that said, and never for acting. Values that are kept apart from the record are not in it.
	History *History
	Err     error
}

func (e *UnverifiedError) Error() string {
	return fmt.Sprintf("unverified record: run %q: its seal can't be verified without the key: %v", e.Run, e.Err)
}

// Unwrap gives the cause.
func (e *UnverifiedError) Unwrap() error { return e.Err }

// unverified is the error of a record whose key can't be had.
func (c *chained) unverified(err error) error {
	history, broken := c.claimed()
	if broken != nil {
		return broken
	}
	return &UnverifiedError{Run: c.run, History: history, Err: err}
}

// claimed is what the entries add up to, whoever wrote them.
func (c *chained) claimed() (*History, error) {
	history := newHistory()
	for _, entry := range c.entries {
		if err := history.add(entry); err != nil {
			return nil, c.broken(entry.Seq, err.Error())
		}
	}
	return history, nil
}
