package sysmemory

import "os"

// Available returns the memory in bytes that this process can still allocate.
func Available() int64 { return fromProc(os.DirFS("/")) }
