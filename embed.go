// Package weir carries the files that the weir command needs when it is not run
// from a checkout.
package weir

import _ "embed"

// Template is template.yaml: the API whose gateway responses are answered with.
//
//go:embed template.yaml
var Template []byte
