package devgateway

import (
	"encoding/json"
	"net/http"
)

// echo is the backend: it answers what reached it.
type echo struct {
	Method     string            `json:"method"`
	Path       string            `json:"path"`
	Resource   string            `json:"resource"`
	Tenant     string            `json:"tenant"`
	Plan       string            `json:"plan"`
	Authorizer map[string]string `json:"authorizer"` // what a backend sees as requestContext.authorizer
}

func writeEcho(w http.ResponseWriter, e *Event, authorizer map[string]string) {
	body, _ := json.MarshalIndent(echo{ // strings and maps of strings
		Method:     e.HTTPMethod,
		Path:       e.Path,
		Resource:   e.Resource,
		Tenant:     authorizer["tenant"],
		Plan:       authorizer["plan"],
		Authorizer: authorizer,
	}, "", "  ")
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n')) // a client that has gone
}
