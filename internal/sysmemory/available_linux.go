package sysmemory

import "os"

// Available returns the memory in bytes that this process can still allocate.
func Available() int64 { return fromProc(os.DirFS("/")) }

// Room returns the memory in bytes that this process can have in all, with what it has already.
func Room() int64 { return roomFromProc(os.DirFS("/")) }
