package stranded

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/journal"
)

// TestManyPodsArePackedInPieces, each of which a run takes as one export.
func TestManyPodsArePackedInPieces(t *testing.T) {
	noise := make([]byte, 768<<10)
	source, packed := rand.NewChaCha8([32]byte{}), newPacking()
	const pods = 30
	for n := range pods {
		_, _ = source.Read(noise)
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: strconv.Itoa(n)},
			Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Args: []string{base64.StdEncoding.EncodeToString(noise)}}},
			},
		}
		if err := packed.add(pod); err != nil {
			t.Fatal(err)
		}
	}
	if err := packed.close(); err != nil {
		t.Fatal(err)
	}
	if len(packed.pieces) != 2 {
		t.Errorf("%d pieces", len(packed.pieces))
	}
	read := 0
	for _, piece := range packed.pieces {
		if len(piece) > journal.MaxExport {
			t.Errorf("a piece has %d bytes", len(piece))
		}
		unzipped, err := gzip.NewReader(bytes.NewReader(piece))
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(unzipped)
		for lines.Buffer(nil, 4<<20); lines.Scan(); read++ {
			var pod corev1.Pod
			if err := json.Unmarshal(lines.Bytes(), &pod); err != nil || pod.Name != strconv.Itoa(read) {
				t.Fatalf("pod %d is %q: %v", read, pod.Name, err)
			}
		}
	}
	if read != pods {
		t.Errorf("%d pods were read back", read)
	}
}
