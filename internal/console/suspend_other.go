//go:build !unix

package console

// suspend has nothing to do where processes can't be suspended by a key.
func (l *Live) suspend() {}
