#if os(Linux)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A system call that is refused, always or with certain arguments.
struct SyscallRule: Sendable {
    /// When the call is refused; arguments count from 0, and of each, the lower 32 bits are compared.
    enum Condition: Sendable {
        case always
        case equals(Int, UInt32)
        case differs(Int, UInt32)
        case hasBits(Int, UInt32)
    }

    /// The call's number on this processor; nil if it does not exist there.
    let number: UInt32?
    let error: Int32
    let condition: Condition

    init(_ intel: UInt32?, _ arm: UInt32?, _ error: Int32 = EPERM, _ condition: Condition = .always) {
        #if arch(x86_64)
        number = intel
        #elseif arch(arm64)
        number = arm
        #else
        number = nil
        #endif
        self.error = error
        self.condition = condition
    }

    /// A call with the same number everywhere.
    init(everywhere number: UInt32, _ error: Int32 = EPERM) {
        self.init(number, number, error)
    }
}

/// The system calls that sandboxes refuse.
enum SyscallRules {
    private static let newUserNamespace: UInt32 = 0x1000_0000

    /// Refused in every sandbox: ways into other processes, and large parts of the kernel that tools have no
    /// use for. What needs a capability is missing here, because there are none.
    static let always: [SyscallRule] = [
        SyscallRule(101, 117),  // ptrace
        SyscallRule(310, 270),  // process_vm_readv
        SyscallRule(311, 271),  // process_vm_writev
        SyscallRule(everywhere: 438),  // pidfd_getfd
        SyscallRule(302, 261, EPERM, .differs(0, 0)),  // prlimit64 of another process
        // The scheduling and the memory of other processes. Threads are named by their numbers, too, so a
        // program can change the one that calls only as 0.
        SyscallRule(141, 140, EPERM, .equals(0, 2)),  // setpriority PRIO_USER
        SyscallRule(141, 140, EPERM, .differs(1, 0)),  // setpriority
        SyscallRule(142, 118, EPERM, .differs(0, 0)),  // sched_setparam
        SyscallRule(144, 119, EPERM, .differs(0, 0)),  // sched_setscheduler
        SyscallRule(203, 122, EPERM, .differs(0, 0)),  // sched_setaffinity
        SyscallRule(314, 274, EPERM, .differs(0, 0)),  // sched_setattr
        SyscallRule(251, 30, EPERM, .equals(0, 3)),  // ioprio_set IOPRIO_WHO_USER
        SyscallRule(251, 30, EPERM, .differs(1, 0)),  // ioprio_set
        SyscallRule(256, 238, EPERM, .differs(0, 0)),  // migrate_pages
        SyscallRule(279, 239, EPERM, .differs(0, 0)),  // move_pages
        SyscallRule(250, 219),  // keyctl
        SyscallRule(248, 217),  // add_key
        SyscallRule(249, 218),  // request_key
        SyscallRule(321, 280),  // bpf
        SyscallRule(298, 241),  // perf_event_open
        SyscallRule(323, 282),  // userfaultfd
        // Its operations, sockets among them, pass no filter. ENOSYS: programs then use something else.
        SyscallRule(everywhere: 425, ENOSYS),  // io_uring_setup
        SyscallRule(everywhere: 426, ENOSYS),  // io_uring_enter
        SyscallRule(everywhere: 427, ENOSYS),  // io_uring_register
        // A user namespace has capabilities of its own. Filters cannot read the flags of clone3.
        SyscallRule(56, 220, EPERM, .hasBits(0, newUserNamespace)),  // clone
        SyscallRule(everywhere: 435, ENOSYS),  // clone3
        SyscallRule(272, 97, EPERM, .hasBits(0, newUserNamespace)),  // unshare
        SyscallRule(308, 268),  // setns
        // Input for the shell of a terminal that the program shares.
        SyscallRule(16, 29, EPERM, .equals(1, 0x5412)),  // ioctl TIOCSTI
        SyscallRule(16, 29, EPERM, .equals(1, 0x541C)),  // ioctl TIOCLINUX
        // A lease on a file makes others wait, or fail, that open it.
        SyscallRule(72, 25, EACCES, .equals(1, 1_024)),  // fcntl F_SETLEASE
        // A program with the bits S_ISUID or S_ISGID would give its owner's rights to others, outside.
        SyscallRule(90, nil, EPERM, .hasBits(1, setID)),  // chmod
        SyscallRule(91, 52, EPERM, .hasBits(1, setID)),  // fchmod
        SyscallRule(268, 53, EPERM, .hasBits(2, setID)),  // fchmodat
        SyscallRule(452, 452, EPERM, .hasBits(2, setID)),  // fchmodat2
        SyscallRule(2, nil, EPERM, .hasBits(2, setID)),  // open
        SyscallRule(257, 56, EPERM, .hasBits(3, setID)),  // openat
        SyscallRule(85, nil, EPERM, .hasBits(1, setID)),  // creat
        SyscallRule(133, nil, EPERM, .hasBits(1, setID)),  // mknod
        SyscallRule(259, 33, EPERM, .hasBits(2, setID)),  // mknodat
        // Its mode is in memory, where no filter looks; programs use openat then.
        SyscallRule(everywhere: 437, ENOSYS),  // openat2
    ]

    /// S_ISUID and S_ISGID.
    private static let setID: UInt32 = 0o6000

    /// Refused where nothing may be written: changes to the owner, mode, times and attributes of files, which
    /// Landlock does not check.
    static let metadata: [SyscallRule] = [
        // chmod, fchmod, fchmodat, fchmodat2
        SyscallRule(90, nil), SyscallRule(91, 52), SyscallRule(268, 53), SyscallRule(everywhere: 452),
        // chown, fchown, lchown, fchownat
        SyscallRule(92, nil), SyscallRule(93, 55), SyscallRule(94, nil), SyscallRule(260, 54),
        // setxattr, lsetxattr, fsetxattr, setxattrat
        SyscallRule(188, 5), SyscallRule(189, 6), SyscallRule(190, 7), SyscallRule(everywhere: 463),
        // removexattr, lremovexattr, fremovexattr, removexattrat
        SyscallRule(197, 14), SyscallRule(198, 15), SyscallRule(199, 16), SyscallRule(everywhere: 466),
        // utime, utimes, futimesat, utimensat
        SyscallRule(132, nil), SyscallRule(235, nil), SyscallRule(261, nil), SyscallRule(280, 88),
        // file_setattr
        SyscallRule(everywhere: 469),
    ]

    /// The call with requests of its own for each kind of file. Where nothing may be written, it is refused
    /// but for `queries` and `families`: most file systems let a descriptor for reading change attributes of
    /// its file (FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY and others, also of single ones).
    static let control = SyscallRule(16, 29)
    /// Requests that only ask a file system.
    static let queries: [UInt32] = [
        2,  // FIGETBSZ
        0x8008_6601,  // FS_IOC_GETFLAGS
        0x8008_7601,  // FS_IOC_GETVERSION
        0x801C_581F,  // FS_IOC_FSGETXATTR
        0xC020_660B,  // FS_IOC_FIEMAP
    ]
    /// The second byte of requests for terminals and for every descriptor (FIONREAD, FIONBIO, FIOCLEX), and
    /// of those for sockets.
    static let families: [UInt32] = [0x54, 0x89]

    /// Refused without a network: what else connects programs of one user, whatever files they may use.
    private static let exchange: [SyscallRule] = [
        // shmget, shmat, shmctl
        SyscallRule(29, 194, EACCES), SyscallRule(30, 196, EACCES), SyscallRule(31, 195, EACCES),
        // semget, semop, semctl, semtimedop
        SyscallRule(64, 190, EACCES), SyscallRule(65, 193, EACCES), SyscallRule(66, 191, EACCES),
        SyscallRule(220, 192, EACCES),
        // msgget, msgsnd, msgrcv, msgctl
        SyscallRule(68, 186, EACCES), SyscallRule(69, 189, EACCES), SyscallRule(70, 188, EACCES),
        SyscallRule(71, 187, EACCES),
        // mq_open, mq_unlink
        SyscallRule(240, 180, EACCES), SyscallRule(241, 181, EACCES),
    ]

    /// The call that makes a socket.
    static let socket = SyscallRule(41, 198, EACCES)

    /// Returns what a network refuses besides sockets.
    static func network(_ network: Sandbox.Network) -> [SyscallRule] {
        let unix = UInt32(AF_UNIX)
        var rules = [SyscallRule(53, 199, EACCES, .differs(0, unix))]  // socketpair
        // One end of a pair of datagram sockets reaches every socket of this kind by its path. A raw one is
        // the same. The flags are SOCK_NONBLOCK and SOCK_CLOEXEC.
        if !network.isUnixAllowed {
            for type: UInt32 in [2, 3] {
                for flags: UInt32 in [0, 0o4000, 0o2_000_000, 0o2_004_000] {
                    rules.append(SyscallRule(53, 199, EACCES, .equals(1, type | flags)))
                }
            }
        }
        if network == Sandbox.Network() { rules += exchange }
        // A socket that listens without an address gets a port, which no rule of Landlock checks.
        if network.bind.isEmpty, !network.isUnixAllowed { rules.append(SyscallRule(50, 201, EACCES)) }
        // MSG_FASTOPEN connects without the check of the port.
        let fastOpen: UInt32 = 0x2000_0000
        rules.append(SyscallRule(44, 206, EOPNOTSUPP, .hasBits(3, fastOpen)))  // sendto
        rules.append(SyscallRule(46, 211, EOPNOTSUPP, .hasBits(2, fastOpen)))  // sendmsg
        rules.append(SyscallRule(307, 269, EOPNOTSUPP, .hasBits(3, fastOpen)))  // sendmmsg
        return rules
    }

    /// A kind of socket: the arguments of the call that makes it. The type is without its flags.
    struct SocketKind: Sendable {
        let family: UInt32
        /// Nil: all.
        let typeAndProtocol: (type: UInt32, number: UInt32)?
    }

    /// Returns the kinds of sockets that a network allows. Protocols are named because other stream sockets,
    /// such as those of MPTCP, pass Landlock's check of ports.
    static func sockets(_ network: Sandbox.Network) -> [SocketKind] {
        var kinds: [SocketKind] = []
        if network.isUnixAllowed {
            kinds.append(SocketKind(family: UInt32(AF_UNIX), typeAndProtocol: nil))
        }
        let (stream, datagram, tcp, udp): (UInt32, UInt32, UInt32, UInt32) = (1, 2, 6, 17)
        for family in [UInt32(AF_INET), UInt32(AF_INET6)] {
            for number in [0, tcp] where network.isTCPAllowed {
                kinds.append(SocketKind(family: family, typeAndProtocol: (stream, number)))
            }
            for number in [0, udp] where network.isUDPAllowed {
                kinds.append(SocketKind(family: family, typeAndProtocol: (datagram, number)))
            }
        }
        return kinds
    }
}
#endif
