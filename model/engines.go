package model

import (
	"sync"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// An enginePool lends single-threaded engines. An engine keeps scratch memory and
// serves one caller at a time; the pool lets concurrent predictions reuse them.
type enginePool struct {
	path cpu.Path
	pool sync.Pool
}

func newEnginePool() (*enginePool, error) {
	path, err := cpu.ChoosePath()
	if err != nil {
		return nil, err
	}
	return &enginePool{path: path, pool: sync.Pool{New: func() any { return cpu.New(path, 1) }}}, nil
}

// use calls work with an engine that no other goroutine uses during the call.
func (p *enginePool) use(work func(engine *cpu.Backend)) {
	engine := p.pool.Get().(*cpu.Backend)
	defer p.pool.Put(engine)
	work(engine)
}

// threaded returns a new engine with several threads, 0 for as many as the process
// may use.
func (p *enginePool) threaded(threads int) *cpu.Backend { return cpu.New(p.path, threads) }
