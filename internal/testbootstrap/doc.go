// Package testbootstrap builds a Lambda function of this module as it is
// deployed and runs it on aws-lambda-rie, AWS's own emulator of the runtime: the
// real binary, started cold, kept warm, called with real events.
//
// A test that starts several functions, of as many Regions say, starts them side
// by side: each has ports of its own.
package testbootstrap
