// Package bucket is the arithmetic of a token bucket kept as one integer.
package bucket
