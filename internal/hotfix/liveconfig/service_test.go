//go:build linux

package liveconfig_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"salve/internal/hotfix/liveconfig"
)

const (
	serviceName = "aks-security-patch.data.mcr.microsoft.com"
	signature   = "MIIsigned=="
	current     = "202604.01.3"
)

// authority signs the certificates of a test.
type authority struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
	pem         []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "cluster"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{key, certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue makes a certificate for a name that is over at a time.
func (a *authority) issue(t *testing.T, name string, over time.Time) tls.Certificate {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: over,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

// front is what a node meets: the service behind the API server's address.
type front struct {
	authority *authority
	tls       *tls.Config
	// answers is what the service says to a component and an authorization.
	answers func(component, authorization string) (config string, err error)
	asked   chan tls.ConnectionState
}

func newFront(t *testing.T) *front {
	t.Helper()
	f := &front{authority: newAuthority(t), asked: make(chan tls.ConnectionState, 10)}
	f.tls = &tls.Config{
		Certificates: []tls.Certificate{f.authority.issue(t, serviceName, time.Now().Add(time.Hour))},
		NextProtos:   []string{"aks-live-patching", "h2"},
	}
	f.answers = func(component, authorization string) (string, error) {
		if component != "aksNodeController" || authorization != signature {
			return "", status.Errorf(codes.Unauthenticated, "not %s by %s", component, authorization)
		}
		return `{"hotfixes":{"202604.01":"202604.01.7"}}`, nil
	}
	return f
}

func always(config string, err error) func(string, string) (string, error) {
	return func(string, string) (string, error) { return config, err }
}

// describe gives the service's two messages, as its .proto would.
func describe(t *testing.T) (asking, answering protoreflect.MessageDescriptor) {
	t.Helper()
	text := func(name string, number int32) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{
			Name: proto.String(name), Number: proto.Int32(number), JsonName: proto.String(name),
			Type:  descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		}
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("live.proto"), Package: proto.String("akslivepatching.v1"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			{Name: proto.String("Request"), Field: []*descriptorpb.FieldDescriptorProto{text("component_name", 1)}},
			{Name: proto.String("Response"), Field: []*descriptorpb.FieldDescriptorProto{text("component_name", 1),
				text("config", 2)}},
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file.Messages().Get(0), file.Messages().Get(1)
}

// serve runs the front with a real server of gRPC and gives its address.
func (f *front) serve(t *testing.T) string {
	t.Helper()
	asking, answering := describe(t)
	call := func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		request := dynamicpb.NewMessage(asking)
		if err := decode(request); err != nil {
			return nil, err
		}
		component := request.Get(asking.Fields().Get(0)).String()
		incoming, _ := metadata.FromIncomingContext(ctx)
		authorization := ""
		if values := incoming.Get("authorization"); len(values) == 1 {
			authorization = values[0]
		}
		config, err := f.answers(component, authorization)
		response := dynamicpb.NewMessage(answering)
		response.Set(answering.Fields().Get(0), protoreflect.ValueOfString(component))
		response.Set(answering.Fields().Get(1), protoreflect.ValueOfString(config))
		return response, err
	}
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "akslivepatching.v1.LivePatchingService",
		Methods:     []grpc.MethodDesc{{MethodName: "GetComponentConfig", Handler: call}},
	}, nil)
	listener := listen(t)
	f.tls.VerifyConnection = func(state tls.ConnectionState) error {
		select {
		case f.asked <- state:
		default:
		}
		return nil
	}
	go func() { _ = server.Serve(tls.NewListener(listener, f.tls)) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// metadataService signs.
func metadataService(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	if handle == nil {
		handle = func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Metadata") != "true" {
				http.Error(w, "the header is missing", http.StatusBadRequest)
				return
			}
			_, _ = w.Write([]byte(`{"encoding":"pkcs7","signature":"` + signature + `"}`))
		}
	}
	server := httptest.NewServer(handle)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// node is a machine with its configuration and its pointer file.
type node struct {
	settings liveconfig.Settings
	pointer  string
}

// newNode makes a node that knows an address and an authority, and has a map in its
// configuration if embedded isn't empty.
func newNode(t *testing.T, address string, by *authority, embedded string) *node {
	t.Helper()
	folder := t.TempDir()
	configuration := map[string]any{
		"apiServerConfig":  map[string]any{"apiServerName": address},
		"kubernetesCaCert": base64.StdEncoding.EncodeToString(by.pem),
		"kubeletConfig":    map[string]any{"maxPods": 110},
	}
	if embedded != "" {
		configuration["hotfixes"] = json.RawMessage(embedded)
	}
	raw, err := json.Marshal(configuration)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{pointer: filepath.Join(folder, "pointer.json")}
	n.settings = liveconfig.Settings{
		Configuration: filepath.Join(folder, "configuration.json"), Metadata: metadataService(t, nil),
		Limit: 5 * time.Second, // generous on a busy machine; what has to be cut off sets its own
	}
	n.writes(t, n.settings.Configuration, string(raw))
	n.writes(t, n.pointer, legacy)
	return n
}

// legacy is a pointer file whose version applies to the node.
const legacy = `{"version":"202604.01.5", "scripts_version": "202604.01.6"}`

func (n *node) writes(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
		t.Fatal(err)
	}
}

func (n *node) check(t *testing.T) liveconfig.Result {
	t.Helper()
	return liveconfig.New(n.settings).Check(t.Context(), current, n.pointer)
}

// has compares the pointer file.
func (n *node) has(t *testing.T, want string) {
	t.Helper()
	raw, err := os.ReadFile(n.pointer)
	if err != nil || string(raw) != want {
		t.Errorf("the pointer file holds %s, %v; want %s", raw, err, want)
	}
}
