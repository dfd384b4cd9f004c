package paged

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Supported says whether this system has stores.
const Supported = true

// A Store is a temporary file of arrays, or memory for them. Its methods may be called concurrently.
type Store struct {
	folder string
	limit  int64 // of the resident memory of the process

	growing sync.Mutex // held while the file grows, which takes long
	file    *os.File   // nil if the arrays are in memory
	end     int64      // of the file

	lock    sync.Mutex       // never held while the disk works: pages leave the memory under it
	regions map[uintptr]span // by the address of their first byte
	stored  atomic.Int64     // bytes of the regions that are in the file

	stop    chan struct{}
	stopped chan struct{}
}

// span is a mapped part of the file, or of memory.
type span struct {
	memory []byte
	offset int64 // in the file, or inMemory
}

const inMemory = -1

// watchEvery is the time between two looks at the resident memory. Two threads can map 10 MB in that
// time; where all CPUs are busy the look is late by 10 ms or more.
const watchEvery = time.Millisecond

// memory file systems, whose files take the memory that is to be saved.
const (
	tmpfs = 0x01021994
	ramfs = 0x858458f6
)

// Open creates a store in a folder; "" chooses that of the environment variable TMPDIR, or
// /var/tmp. Pages leave the memory of the process when it comes close to the limit in bytes. Open
// fails if the folder has less room than the given number of bytes.
func Open(folder string, room, limit int64) (*Store, error) {
	if folder == "" {
		folder = defaultFolder()
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(folder, &disk); err != nil {
		return nil, &Error{Folder: folder, cause: err}
	}
	if kind := int64(disk.Type); kind == tmpfs || kind == ramfs {
		return nil, &Error{Folder: folder, cause: errors.New("it is in memory")}
	}
	if free := freeBytes(&disk); free < room {
		return nil, &Error{Folder: folder, Need: room, Free: free, cause: unix.ENOSPC}
	}
	file, err := openUnnamed(folder)
	if err != nil {
		return nil, &Error{Folder: folder, cause: err}
	}
	s := &Store{folder: folder, limit: limit, file: file, regions: map[uintptr]span{}, stop: make(chan struct{}), stopped: make(chan struct{})}
	go s.watch()
	return s, nil
}

// Reserve returns a store without a file. Its arrays are in memory, page by page from the first time
// that something is written there, so that long arrays of which a process uses a part cost what that
// part does.
func Reserve() *Store { return &Store{folder: "of no disk", regions: map[uintptr]span{}} }

func defaultFolder() string {
	if folder := os.Getenv("TMPDIR"); folder != "" {
		return folder
	}
	if info, err := os.Stat("/var/tmp"); err == nil && info.IsDir() {
		return "/var/tmp"
	}
	return os.TempDir()
}

// openUnnamed opens a new file without a name.
func openUnnamed(folder string) (*os.File, error) {
	fd, err := unix.Open(folder, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		return os.NewFile(uintptr(fd), filepath.Join(folder, "kft-pages")), nil
	}
	file, err := os.CreateTemp(folder, "kft-pages-*") // the file system has no unnamed files
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// advise asks for large pages up to their borders around a part of the heap.
func advise(start, size uintptr) {
	from, to := start&^(hugePage-1), (start+size+hugePage-1)&^(hugePage-1)
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_HUGEPAGE)
}

// populate asks for the pages of a part of the heap.
func populate(start, size uintptr) {
	page := uintptr(os.Getpagesize())
	from, to := start&^(page-1), (start+size+page-1)&^(page-1)
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_POPULATE_WRITE)
}

func freeBytes(disk *unix.Statfs_t) int64 { return int64(disk.Bavail) * int64(disk.Bsize) }

// region adds a part to the file and maps it.
func (s *Store) region(size int) []byte {
	if s.file == nil {
		return s.keep(size)
	}
	return s.add(s.grow(roundUp(size)))
}

// keep maps memory that is not in the file.
func (s *Store) keep(size int) []byte {
	memory, err := unix.Mmap(-1, 0, roundUp(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		panic(&Error{Folder: s.folder, cause: err})
	}
	Huge(memory)
	return s.add(span{memory: memory, offset: inMemory})
}

// roundUp returns the size of whole pages.
func roundUp(size int) int {
	page := os.Getpagesize()
	return (size + page - 1) / page * page
}

func (s *Store) add(r span) []byte {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.regions[address(r.memory)] = r
	if r.offset != inMemory {
		s.stored.Add(int64(len(r.memory)))
	}
	return r.memory
}

// grow adds a part to the file and maps it.
func (s *Store) grow(size int) span {
	s.growing.Lock()
	defer s.growing.Unlock()
	fd := int(s.file.Fd())
	err := unix.Fallocate(fd, 0, s.end, int64(size)) // a full disk is an error here, and not a fault at an access
	if errors.Is(err, unix.EOPNOTSUPP) {
		err = s.file.Truncate(s.end + int64(size))
	}
	if err != nil {
		failed := &Error{Folder: s.folder, Stored: s.end, cause: err}
		var disk unix.Statfs_t
		if errors.Is(err, unix.ENOSPC) && unix.Fstatfs(fd, &disk) == nil {
			failed.Need, failed.Free = int64(size), min(freeBytes(&disk), int64(size)-1)
		}
		panic(failed)
	}
	memory, err := unix.Mmap(fd, s.end, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(&Error{Folder: s.folder, Stored: s.end, cause: err})
	}
	s.end += int64(size)
	return span{memory, s.end - int64(size)}
}

func address(memory []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(memory))) }

// free gives back the region at an address, if there is one.
func (s *Store) free(at uintptr) {
	s.lock.Lock()
	r, found := s.regions[at]
	delete(s.regions, at)
	s.lock.Unlock()
	if !found {
		return
	}
	_ = unix.Munmap(r.memory)
	if r.offset == inMemory {
		return
	}
	s.stored.Add(-int64(len(r.memory)))
	_ = unix.Fallocate(int(s.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, r.offset, int64(len(r.memory))) // its room on the disk
}

// contains reports whether an address is in an array of the store.
func (s *Store) contains(at uintptr) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	for first, r := range s.regions {
		if r.offset != inMemory && at >= first && at < first+uintptr(len(r.memory)) {
			return true
		}
	}
	return false
}

// Size returns the number of bytes of the arrays in the file.
func (s *Store) Size() int64 {
	if s == nil {
		return 0
	}
	return s.stored.Load()
}

// watch takes all pages out of the memory of the process before it exceeds the limit: when a quarter of it is left for
// pages that are mapped before the next look, or all pages if they are fewer.
func (s *Store) watch() {
	defer close(s.stopped)
	status, err := os.Open("/proc/self/statm")
	if err != nil {
		return // then the system alone decides about pages
	}
	defer status.Close()
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
		}
		if resident(status) > s.limit-min(s.limit/4, s.Size()) {
			s.drop()
		}
	}
}

// resident returns the resident memory of the process in bytes.
func resident(status *os.File) int64 {
	var text [128]byte
	n, _ := status.ReadAt(text[:], 0)
	fields := strings.Fields(string(text[:n]))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// drop takes all pages out of the memory of the process. What was written to them remains in
// the file, or in the system's memory until it is there.
func (s *Store) drop() {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, r := range s.regions {
		if r.offset != inMemory { // the rest would be lost
			_ = unix.Madvise(r.memory, unix.MADV_DONTNEED)
		}
	}
}

// Close gives back all arrays and the file.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	if s.file != nil {
		close(s.stop)
		<-s.stopped
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	var failed error
	for _, r := range s.regions {
		failed = errors.Join(failed, unix.Munmap(r.memory))
	}
	clear(s.regions)
	if s.file == nil {
		return failed
	}
	return errors.Join(failed, s.file.Close())
}
