//go:build unix

package tune

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// immediateStop makes PostgreSQL exit without cleaning up.
const immediateStop = syscall.SIGQUIT

// serverUser returns the user of the server: PostgreSQL refuses to run as root.
func serverUser() (uid, gid int, err error) {
	if os.Getuid() != 0 {
		return os.Getuid(), os.Getgid(), nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return 0, 0, err
	}
	uid, _ = strconv.Atoi(u.Uid)
	gid, _ = strconv.Atoi(u.Gid)
	return uid, gid, nil
}

func giveToServer(folder string) error {
	uid, gid, err := serverUser()
	if err != nil {
		return err
	}
	return os.Chown(folder, uid, gid)
}

func asServer(cmd *exec.Cmd) {
	if uid, gid, err := serverUser(); err == nil && os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
}
