package served

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"salve/internal/azuresim"
)

// controlPath is below what ARM never uses.
const controlPath = "/_control/"

// faultLimit bounds the text of a fault, in bytes.
const faultLimit = 1 << 20

// control is the endpoint for tests: it tells what happened and makes things go wrong.
//
//	GET    /_control/calls?after=SEQ&api=arm   the requests so far, in the order of their arrival
//	GET    /_control/operations                ARM's long-running operations so far
//	GET    /_control/snapshot                  cluster, pools, and the given cluster's nodes and pods
//	POST   /_control/faults                    adds a fault, written as in a scenario; its times count from now
//	DELETE /_control/faults                    ends all faults, the scenario's too
func (s *Server) control() http.Handler {
	paths := http.NewServeMux()
	paths.HandleFunc("GET "+controlPath+"calls", s.listCalls)
	paths.HandleFunc("GET "+controlPath+"operations", s.listOperations)
	paths.HandleFunc("GET "+controlPath+"snapshot", s.showSnapshot)
	paths.HandleFunc("POST "+controlPath+"faults", s.injectFault)
	paths.HandleFunc("DELETE "+controlPath+"faults", s.liftFaults)
	return paths
}

// listCalls shows status 0 for a request that is not answered yet, or was never executed.
func (s *Server) listCalls(response http.ResponseWriter, request *http.Request) {
	query, after := request.URL.Query(), 0
	if text := query.Get("after"); text != "" {
		var err error
		if after, err = strconv.Atoi(text); err != nil || after < 0 {
			refuse(response, http.StatusBadRequest, fmt.Errorf("after=%s: it is the number of a call", text))
			return
		}
	}
	calls := []azuresim.Call{}
	for _, call := range s.world.Calls() {
		if call.Seq > after && (query.Get("api") == "" || query.Get("api") == call.API) {
			calls = append(calls, call)
		}
	}
	answer(response, http.StatusOK, map[string]any{"calls": calls})
}

func (s *Server) listOperations(response http.ResponseWriter, _ *http.Request) {
	answer(response, http.StatusOK, map[string]any{"operations": s.world.Operations()})
}

// showSnapshot says why there are no nodes when the given cluster can't be read.
func (s *Server) showSnapshot(response http.ResponseWriter, request *http.Request) {
	shown := struct {
		azuresim.State
		Problem string `json:"problem,omitempty"`
	}{State: s.world.Snapshot()}
	if err := s.cluster.Show(request.Context(), &shown.State); err != nil {
		shown.Problem = err.Error()
	}
	answer(response, http.StatusOK, shown)
}

func (s *Server) injectFault(response http.ResponseWriter, request *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(response, request.Body, faultLimit))
	if err != nil {
		refuse(response, http.StatusBadRequest, err)
		return
	}
	fault, err := s.scenario.ParseFault("fault", text)
	if err == nil {
		err = s.world.Inject(fault)
	}
	if err != nil {
		refuse(response, http.StatusBadRequest, err)
		return
	}
	response.WriteHeader(http.StatusNoContent)
}

func (s *Server) liftFaults(response http.ResponseWriter, _ *http.Request) {
	s.world.LiftFaults()
	response.WriteHeader(http.StatusNoContent)
}

func refuse(response http.ResponseWriter, status int, err error) {
	answer(response, status, map[string]string{"error": err.Error()})
}

func answer(response http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic("served: encoding an answer: " + err.Error()) // it is made of texts, numbers and times
	}
	response.Header().Set("Content-Type", "application/json; charset=utf-8")
	response.WriteHeader(status)
	_, _ = response.Write(append(text, '\n')) // a client that went away reads nothing
}
