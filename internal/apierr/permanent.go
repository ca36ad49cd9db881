package apierr

import "errors"

// PermanentError says that waiting does not help: nobody is logged in, there is no such host, nothing listens there,
// its certificate is not trusted. What it says of a change is said by its class.
type PermanentError struct{ Err error }

func (e *PermanentError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *PermanentError) Unwrap() error { return e.Err }

// NonRetriable keeps the Azure SDK's clients from sending the request again
// (https://pkg.go.dev/github.com/Azure/azure-sdk-for-go/sdk/internal/errorinfo#NonRetriable).
func (e *PermanentError) NonRetriable() {}

// IsPermanent tells whether waiting does not help.
func IsPermanent(err error) bool {
	var permanent *PermanentError
	return errors.As(err, &permanent)
}
