package stranded_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"salve/internal/kubetest"
	"salve/kube"
	"salve/runbooks/rescuepods/stranded"
)

// TestASecretIsNotRead: whether it exists is all that is asked for.
func TestASecretIsNotRead(t *testing.T) {
	t.Parallel()
	plane := kubetest.Start(t)
	namespace := plane.Namespace(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "there"}, StringData: map[string]string{"key": "value"}}
	_, err := plane.Client().CoreV1().Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, bodies := plane.Config(), 0
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err != nil {
				return nil, err
			}
			body, err := io.ReadAll(response.Body)
			if bytes.Contains(body, []byte("dmFsdWU")) || bytes.Contains(body, []byte("value")) {
				t.Errorf("the API server said %s", body)
			}
			bodies, response.Body = bodies+1, io.NopCloser(bytes.NewReader(body))
			return response, err
		})
	})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	search := &stranded.Search{Cluster: &kube.Cluster{Client: client, Clock: clock.RealClock{}}}
	for name, want := range map[string]bool{"there": true, "elsewhere": false} {
		if got, err := search.Exists(t.Context(), namespace, stranded.Secret, name); got != want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if bodies != 2 {
		t.Errorf("%d answers were looked at", bodies)
	}
	for _, wrong := range [][3]string{{namespace, "Node", "n"}, {"", stranded.Secret, "there"},
		{namespace, stranded.Secret, ""}} {
		if _, err := search.Exists(t.Context(), wrong[0], wrong[1], wrong[2]); err == nil {
			t.Errorf("%q was asked for", wrong)
		}
	}
}
