//go:build !unix || solaris || illumos || aix

package experiment

// lock does nothing where there are no locks that end with the process.
func lock(string) (unlock func(), err error) { return func() {}, nil }
