// Package e2e_test deploys Weir as an operator would, with the command lines of the
// CDK and of SAM, into an emulated AWS, and then uses it from outside: real HTTP
// through its API Gateway, plans changed by `weir plan apply`, `weir doctor`.
//
//	make e2e
//
// The emulator is MiniStack as emulator.py starts it. What that adds, what is
// switched off because it is not there, and what a real account alone can show:
// docs/emulator.md.
package e2e_test
