package authorizer

import (
	"context"
	"errors"
	"strings"

	"weir/internal/directory"
	"weir/internal/identity"
	"weir/internal/request"
)

// identify returns who a request is from. The error is directory.ErrUnknown for
// a credential that is missing, malformed, mistyped, ambiguous or nobody's;
// errGuessing if it was not looked at; any other if the directory could not tell.
func (h *Handler) identify(ctx context.Context, now int64, req *request.Request) (directory.Entry, error) {
	key, err := h.credential(req)
	if err != nil || identity.Mistyped(key) {
		return directory.Entry{}, directory.ErrUnknown
	}
	ctx, cancel := context.WithTimeout(ctx, h.lookup)
	defer cancel()
	var entry directory.Entry
	if key == "" {
		entry, err = h.directory.Anonymous(ctx, now)
	} else {
		hash := directory.HashOf(key)
		if h.blocked(now, req) && !h.remembers(now, hash) {
			return directory.Entry{}, errGuessing
		}
		entry, err = h.directory.ByCredential(ctx, now, hash)
	}
	if err == nil && entry.Plan == nil {
		err = errors.New("directory: tenant without a plan")
	}
	return entry, err
}

// credential returns the API key of a request, "" if it has none. Errors carry
// nothing of it.
func (h *Handler) credential(req *request.Request) (string, error) {
	switch req.Kind {
	case request.RESTToken:
		if req.Token != "" && !identity.ValidKey(req.Token) {
			return "", identity.ErrMalformedKey
		}
		return req.Token, nil
	case request.HTTPv2, request.HTTPv1:
		// HTTP APIs join the values of a header that was sent twice.
		for _, v := range req.Headers[h.keyHeader] {
			if strings.Contains(v, ",") {
				return "", identity.ErrDuplicateKey
			}
		}
	}
	return identity.APIKey(req.Headers, h.keyHeader)
}

// header returns a lookup of headers by lower-case name. Several values are
// joined as HTTP says.
func header(all map[string][]string) func(string) string {
	return func(name string) string {
		switch v := all[name]; len(v) {
		case 0:
			return ""
		case 1:
			return v[0]
		default:
			return strings.Join(v, ", ")
		}
	}
}
