package csr

// NewRequest is for tests that write what a client may write.
var NewRequest = newRequest
