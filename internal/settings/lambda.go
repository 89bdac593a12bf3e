package settings

// emulatedLogStream is the log stream that emulators give a function: a constant,
// where Lambda names one after the date, the version and the environment.
const emulatedLogStream = "$LATEST"

// InLambda reports whether the process runs in AWS Lambda rather than under an
// emulator or none.
//
// Emulators set the same variables, AWS_LAMBDA_FUNCTION_NAME and
// AWS_LAMBDA_RUNTIME_API among them. What tells them apart is
// AWS_LAMBDA_LOG_STREAM_NAME: aws-lambda-rie, with and without managed instances,
// and `sam local` set it to "$LATEST", which cannot be a log stream of Lambda's.
// AWS_LAMBDA_INITIALIZATION_TYPE would not do, as rie sets it for managed
// instances. The names are reserved: a function's configuration cannot set them.
// Whatever has a runtime API and no proof of an emulator counts as Lambda.
func InLambda(getenv func(string) string) bool {
	return getenv("AWS_LAMBDA_RUNTIME_API") != "" &&
		getenv("AWS_LAMBDA_LOG_STREAM_NAME") != emulatedLogStream
}
