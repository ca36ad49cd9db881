package csr

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/journal"
)

// SignerName is that of the requests: a signer that there is not.
const SignerName = "salve.internal/approval"

const (
	ownerLabel = "app.kubernetes.io/managed-by"
	ownerName  = "salve"
	runLabel   = "salve-run"

	scheme, host = "salve", "approval"
	limitPrefix  = "limit."
	pemType      = "CERTIFICATE REQUEST"

	maxRequest = 16 << 10
	maxReason  = 1000
)

// newRequest is the object that carries a statement: it is the one URI that a certificate would be for, so that
// kubectl describe csr shows it.
func newRequest(statement journal.Statement) (*certificatesv1.CertificateSigningRequest, error) {
	if len(statement.Reason)+len(statement.From) > maxReason {
		return nil, fmt.Errorf("a reason of %d bytes: at most %d", len(statement.Reason), maxReason)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "approval"}, URIs: []*url.URL{address(statement)},
	}, key)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	tail := make([]byte, 4)
	_, _ = rand.Read(tail) // never fails, by its documentation
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{
			Name:   "salve-" + statement.Run + "-" + hex.EncodeToString(tail),
			Labels: map[string]string{ownerLabel: ownerName, runLabel: statement.Run},
		},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			SignerName: SignerName, Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature},
			Request: pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}),
		},
	}, nil
}

// address writes a statement as a URI.
func address(statement journal.Statement) *url.URL {
	query := url.Values{"plan": {statement.Digest}, "question": {statement.Question}}
	if statement.Denied {
		query.Set("denied", "true")
	}
	if statement.Reason != "" {
		query.Set("reason", statement.Reason)
	}
	if statement.From != "" {
		query.Set("from", statement.From)
	}
	if statement.Expires > 0 {
		query.Set("expires", statement.Lasts().String())
	}
	for name, limit := range statement.Limits {
		query.Set(limitPrefix+name, strconv.Itoa(limit))
	}
	return &url.URL{Scheme: scheme, Host: host, Path: "/" + statement.Run, RawQuery: query.Encode()}
}

// statementIn reads what an object says, and who made it by the word of the API server.
func statementIn(object *certificatesv1.CertificateSigningRequest) (journal.Statement, error) {
	statement := journal.Statement{
		ID: string(object.UID), Proof: "CertificateSigningRequest " + object.Name,
		By: journal.Identity{User: object.Spec.Username, UID: object.Spec.UID, Groups: object.Spec.Groups},
	}
	if object.Spec.SignerName != SignerName {
		return statement, fmt.Errorf("it is for signer %q", object.Spec.SignerName)
	}
	if len(object.Spec.Request) > maxRequest {
		return statement, fmt.Errorf("a request of %d bytes: at most %d", len(object.Spec.Request), maxRequest)
	}
	block, _ := pem.Decode(object.Spec.Request)
	if block == nil || block.Type != pemType {
		return statement, errors.New("its request is not PEM")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return statement, fmt.Errorf("its request: %w", err)
	}
	if len(request.URIs) != 1 {
		return statement, fmt.Errorf("its request names %d URIs, want 1", len(request.URIs))
	}
	return statement, read(request.URIs[0], &statement)
}

// read takes a URI apart. What it does not know is an error: it may be meant to narrow.
func read(from *url.URL, into *journal.Statement) error {
	run, below := strings.CutPrefix(from.Path, "/")
	if from.Scheme != scheme || from.Host != host || !below || from.User != nil || from.Fragment != "" {
		return fmt.Errorf("its URI is none of %s://%s/RUN", scheme, host)
	}
	into.Run = run
	query, err := url.ParseQuery(from.RawQuery)
	if err != nil {
		return fmt.Errorf("its URI: %w", err)
	}
	for name, values := range query {
		if len(values) != 1 {
			return fmt.Errorf("its URI: %q stands there %d times", name, len(values))
		}
		value := values[0]
		limit, isLimit := strings.CutPrefix(name, limitPrefix)
		switch {
		case name == "plan":
			into.Digest = value
		case name == "question":
			into.Question = value
		case name == "reason":
			into.Reason = value
		case name == "from":
			into.From = value
		case name == "denied" && value == "true":
			into.Denied = true
		case name == "expires":
			lasts, err := time.ParseDuration(value)
			if err != nil || lasts <= 0 {
				return fmt.Errorf("its URI: expires=%q is no duration", value)
			}
			into.Expires = lasts.Seconds()
		case isLimit:
			n, err := strconv.Atoi(value)
			if err != nil {
				return fmt.Errorf("its URI: %s=%q is not a whole number", name, value)
			}
			if into.Limits == nil {
				into.Limits = map[string]int{}
			}
			into.Limits[limit] = n
		default:
			return fmt.Errorf("its URI: unknown field %q", name)
		}
	}
	return nil
}

// newest sorts objects so that those made last come first.
func newest(objects []certificatesv1.CertificateSigningRequest) {
	slices.SortStableFunc(objects, func(a, b certificatesv1.CertificateSigningRequest) int {
		return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	})
}
