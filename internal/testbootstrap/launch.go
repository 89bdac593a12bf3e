package testbootstrap

// Launch is Start for a program that is no test: the caller stops the function.
// It also ends when the calling process does. Without an emulator on the machine
// the error is testtool.ErrMissing.
func Launch(bootstrap string, env ...string) (*Function, error) {
	rie, err := emulator.Find()
	if err != nil {
		return nil, err
	}
	var f *Function
	for range 3 { // another process may take a port first
		if f, err = launch(rie, bootstrap, env); err == nil {
			break
		}
	}
	return f, err
}
