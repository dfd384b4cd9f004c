package serve

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kernel-fried-tensor/kft"
)

// A modelSlot is a name under which a model is served. The model behind it changes when
// its file does.
type modelSlot struct {
	file    ModelFile
	current atomic.Pointer[loadedModel]
	monitor *monitor

	loads, failures atomic.Int64
	updates         atomic.Int64
	cells, unseen   atomic.Int64 // predicted cells, and those with an id from the prior

	mutex     sync.Mutex // guards what follows
	tried     stamp      // of the file at the last attempt to load it
	lastError string     // of that attempt
	updating  updating
}

// A loadedModel is a model and what is computed from it once.
type loadedModel struct {
	*kft.Model
	name    string
	version string // of the file: the start of its checksum
	loaded  time.Time
	modes   []kft.Mode
	names   []string // of the modes
	columns bool     // some mode is made of columns with other names
	levels  []byte   // the version and the name as JSON, at the start of each response

	ids       sync.Once
	idsByMode [][]string

	periods   func() (mode int, ids []string) // see timeOf
	explainer func() (Explainer, error)
	history   func() (*history, error)
}

// A stamp tells versions of a file apart.
type stamp struct {
	size    int64
	changed time.Time
	version string
}

const checksumBytes = 32

// stampOf reads the stamp of a model file: its last bytes are a checksum.
func stampOf(path string) (stamp, error) {
	f, err := os.Open(path)
	if err != nil {
		return stamp{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return stamp{}, err
	}
	s := stamp{size: info.Size(), changed: info.ModTime()}
	tail := make([]byte, min(checksumBytes, s.size))
	if _, err := f.ReadAt(tail, s.size-int64(len(tail))); err != nil {
		return stamp{}, err
	}
	s.version = hex.EncodeToString(tail[:min(6, len(tail))])
	return s, nil
}

// loadAll loads all models at the start, several at a time. Any that fails is an error.
func (s *Server) loadAll() error {
	errs := make([]error, len(s.models))
	var group sync.WaitGroup
	for i, slot := range s.models {
		group.Go(func() { errs[i] = s.load(slot) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// load loads the file of a slot. If it fails, the slot keeps the model that it has.
func (s *Server) load(slot *modelSlot) error {
	slot.mutex.Lock()
	defer slot.mutex.Unlock()
	if s.opt.Memory > 0 {
		debug.SetMemoryLimit(math.MaxInt64) // two models and a file are in memory
		defer debug.SetMemoryLimit(s.opt.Memory)
	}
	at, err := stampOf(slot.file.Path)
	slot.tried = at
	var m *kft.Model
	if err == nil || errors.Is(err, fs.ErrNotExist) { // which Load explains
		m, err = kft.Load(slot.file.Path)
	}
	if err == nil && slot.file.Target != "" {
		m, err = m.ForTarget(slot.file.Target)
	} else if err == nil && slot.current.Load() != nil && len(m.Targets()) > 0 {
		err = fmt.Errorf("it is a model of several targets now; start the server again to serve them")
	}
	if err != nil {
		slot.lastError = err.Error()
		slot.failures.Add(1)
		return fmt.Errorf("model %s: %w", slot.file.Name, err)
	}
	slot.lastError = ""
	slot.loads.Add(1)
	before := slot.current.Swap(s.newLoaded(m, slot.file, at.version))
	if before != nil && before.version != at.version {
		slot.monitor.reset() // outcomes judge the model that predicted them
	}
	debug.FreeOSMemory() // the bytes of the file, and the model before
	return nil
}

// divideTargets replaces each model of several targets by the models of its targets.
func (s *Server) divideTargets() error {
	var all []*modelSlot
	for _, slot := range s.models {
		targets := slot.current.Load().Targets()
		if len(targets) == 0 {
			all = append(all, slot)
		}
		for _, target := range targets {
			file := slot.file
			file.Name, file.Target = file.Name+"."+target, target
			if !validName(file.Name) {
				return fmt.Errorf("model %s: the target %q cannot be part of the name of a model; use letters, digits, dots, dashes and underscores", slot.file.Name, target)
			}
			one := &modelSlot{file: file, monitor: newMonitor(s.opt.Monitor)}
			if err := s.load(one); err != nil {
				return err
			}
			all = append(all, one)
		}
	}
	for i, slot := range all {
		if slices.ContainsFunc(all[:i], func(other *modelSlot) bool { return other.file.Name == slot.file.Name }) {
			return fmt.Errorf("two models have the name %q", slot.file.Name)
		}
	}
	s.models = all
	return nil
}

func (s *Server) newLoaded(m *kft.Model, file ModelFile, version string) *loadedModel {
	l := &loadedModel{Model: m, name: file.Name, version: version, loaded: time.Now(), modes: slices.DeleteFunc(m.Modes(), kft.Mode.Target)}
	for _, mode := range l.modes {
		l.names = append(l.names, mode.Name)
		l.columns = l.columns || !slices.Equal(mode.Columns, []string{mode.Name})
	}
	l.levels = fmt.Appendf(nil, `{"model":%q,"version":%q,`, l.name, l.version)
	l.periods = sync.OnceValues(func() (int, []string) { return timeOf(m) })
	if s.opt.Explain != nil {
		l.explainer = sync.OnceValues(func() (Explainer, error) { return s.opt.Explain(m) })
	}
	if len(file.History) > 0 {
		l.history = sync.OnceValues(func() (*history, error) {
			h, err := readHistory(m, file.History)
			if err != nil {
				s.log.Error("the history cannot be read", "model", file.Name, "error", err.Error())
			}
			return h, err
		})
	}
	return l
}

// idsOf returns the ids of a mode, sorted.
func (l *loadedModel) idsOf(mode int) []string {
	l.ids.Do(func() {
		for i := range l.modes {
			ids := l.IDs(i)
			slices.SortFunc(ids, strings.Compare)
			l.idsByMode = append(l.idsByMode, ids)
		}
	})
	return l.idsByMode[mode]
}

// Reload checks all files now and loads those that changed.
func (s *Server) Reload() {
	for _, slot := range s.models {
		at, err := stampOf(slot.file.Path)
		slot.mutex.Lock()
		same := err == nil && at == slot.tried || err != nil && slot.lastError == err.Error()
		slot.mutex.Unlock()
		if same {
			continue
		}
		start := time.Now()
		if err := s.load(slot); err != nil {
			s.log.Error("reload failed; the model before is still served", "model", slot.file.Name, "error", err.Error())
			continue
		}
		s.log.Info("reloaded", "model", slot.file.Name, "version", slot.current.Load().version, "seconds", time.Since(start).Seconds())
	}
}

// watch loads changed files until the context ends.
func (s *Server) watch(ctx context.Context) {
	if s.opt.Watch < 0 {
		return
	}
	ticker := time.NewTicker(s.opt.Watch)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.Reload()
		}
	}
}

// slot returns the model with a name. Without a name it is the only model.
func (s *Server) slot(name, field string) (*modelSlot, error) {
	if name == "" {
		if len(s.models) == 1 {
			return s.models[0], nil
		}
		return nil, problemf(missingField, field, "there are several models; name one of %s", s.modelNames())
	}
	for _, slot := range s.models {
		if slot.file.Name == name {
			return slot, nil
		}
	}
	return nil, problemf(unknownModel, field, "there is no model %q; the models are %s", name, s.modelNames())
}

func (s *Server) modelNames() string {
	var names []string
	for _, slot := range s.models {
		names = append(names, slot.file.Name)
	}
	return strings.Join(names, ", ")
}
