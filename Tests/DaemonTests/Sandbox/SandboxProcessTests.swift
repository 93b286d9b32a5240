import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if os(Linux)
import Glibc

/// What a command in a sandbox can do to other processes, to sockets and with privileges.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SandboxProcessTests {
    private static let configuration = #"""
        { "sandboxes": {
            "none-net": { "fs": { "read": ["PREFIX", "/proc"], "exec": ["/usr/bin"] }, "net": "none" },
            "ports": { "net": { "connect": [PORT], "bind": [0] } },
            "web": { "net": { "connect": [443] } },
            "dns": { "net": { "udp": true } },
            "unix": { "net": "unix" },
            "bare": {},
            "fork": { "limits": { "processes": 8 }, "user": "nobody" },
            "low": { "user": "nobody" }
          },
          "tools": {
            "closed": { "input": {"code": {"type": "string"}}, "exec": ["PYTHON", "-"], "stdin": "{code}",
                        "sandbox": "none-net" },
            "ports": { "input": {"code": {"type": "string"}}, "exec": ["PYTHON", "-"], "stdin": "{code}",
                       "sandbox": "ports" },
            "web": { "input": {"code": {"type": "string"}}, "exec": ["PYTHON", "-"], "stdin": "{code}",
                     "sandbox": "web" },
            "dns": { "input": {"code": {"type": "string"}}, "exec": ["PYTHON", "-"], "stdin": "{code}",
                     "sandbox": "dns" },
            "unix": { "input": {"code": {"type": "string"}}, "exec": ["PYTHON", "-"], "stdin": "{code}",
                      "sandbox": "unix" },
            "bare": { "input": {"code": {"type": "string"}}, "exec": ["PYTHON", "-"], "stdin": "{code}",
                      "sandbox": "bare" }ROOT
          } }
        """#

    /// Needs a server that runs as root.
    private static let rootTools = #"""
        , "low": { "input": {"code": {"type": "string"}}, "exec": ["sh", "-c", "eval \"$1\"", "sh", "{code}"],
                   "sandbox": "low", "cwd": "/" },
          "fork": { "exec": ["sh", "-c", "for i in $(seq 40); do sleep 1 & done; wait"],
                    "sandbox": "fork", "cwd": "/", "timeout": "20s" }
        """#

    /// Prints for each probe its name and the name of its error, or `ok`.
    private static let prelude = """
        import ctypes, errno, os, platform, socket, subprocess, sys
        libc = ctypes.CDLL(None, use_errno=True)
        parent = os.getppid()
        def probe(name, body):
            try: body(); print(name, "ok")
            except OSError as e: print(name, errno.errorcode.get(e.errno, e.errno))
        def call(name, intel, arm, *args):
            number = intel if platform.machine() == "x86_64" else arm
            if number is None: return print(name, "EPERM")
            done = libc.syscall(number, *args)
            print(name, "ok" if done >= 0 else errno.errorcode[ctypes.get_errno()])
        def make(*args): return lambda: socket.socket(*args).close()

        """

    private func probes(_ tool: String, _ code: String, port: Int = 1) async throws -> [String: String]? {
        let isRoot = geteuid() == 0
        var text = Self.configuration.replacing("PORT", with: "\(port)")
        text = text.replacing("ROOT", with: isRoot ? Self.rootTools : "")
        if !isRoot {
            text = text.split(separator: "\n").filter { !$0.contains("\"nobody\"") }.joined(separator: "\n")
        }
        let fixture = try SandboxFixture(text)
        guard SandboxFixture.isComplete else { return nil }
        let outcome = try await fixture.call(tool, "code=\(Self.prelude)\(code)")
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        let words = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        return Dictionary(words.compactMap { $0.count == 2 ? ($0[0], $0[1]) : nil }) { $1 }
    }

    @Test func systemCallsThatReachElsewhere() async throws {
        let found = try await probes(
            "bare",
            """
            call("ptrace", 101, 117, 16, parent, 0, 0)
            call("readv", 310, 270, parent, 0, 0, 0, 0, 0)
            call("writev", 311, 271, parent, 0, 0, 0, 0, 0)
            call("getfd", 438, 438, 0, 0, 0)
            call("limits", 302, 261, parent, 7, 0, 0)
            call("own", 302, 261, 0, 7, 0, 0)
            call("nice", 141, 140, 0, parent, 19)
            call("niceall", 141, 140, 2, 0, 19)
            call("policy", 144, 119, parent, 0, 0)
            call("params", 142, 118, parent, 0)
            call("affinity", 203, 122, parent, 0, 0)
            call("attributes", 314, 274, parent, 0, 0)
            call("io", 251, 30, 1, parent, 0)
            call("ioall", 251, 30, 3, 0, 0)
            call("migrate", 256, 238, parent, 0, 0, 0)
            call("move", 279, 239, parent, 0, 0, 0, 0, 0)
            probe("ownnice", lambda: os.nice(1))
            probe("ownaffinity", lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
            call("keyctl", 250, 219, 0)
            call("addkey", 248, 217, 0, 0, 0, 0, 0)
            call("requestkey", 249, 218, 0, 0, 0, 0)
            call("bpf", 321, 280, 0, 0, 0)
            call("perf", 298, 241, 0, 0, 0, 0, 0)
            call("uffd", 323, 282, 0)
            call("uring", 425, 425, 1, 0)
            call("enter", 426, 426, 0, 0, 0, 0, 0, 0)
            call("register", 427, 427, 0, 0, 0, 0)
            call("clone3", 435, 435, 0, 0)
            call("newuser", 56, 220, 0x10000000 | 17, 0, 0, 0, 0)
            call("unshare", 272, 97, 0x10000000)
            call("setns", 308, 268, 0, 0)
            call("tiocsti", 16, 29, 0, 0x5412, 0)
            call("tioclinux", 16, 29, 0, 0x541C, 0)
            probe("kill", lambda: os.kill(parent, 0))
            probe("killinit", lambda: os.kill(1, 0))
            probe("child", lambda: subprocess.check_call(["true"]))
            """)
        guard var found else { return }
        for name in ["uring", "enter", "register", "clone3"] {
            #expect(found.removeValue(forKey: name) == "ENOSYS", "\(name)")
        }
        for name in ["own", "ownnice", "ownaffinity", "child"] {
            #expect(found.removeValue(forKey: name) == "ok", "\(name)")
        }
        #expect(found.count == 28)
        for (name, result) in found { #expect(result == "EPERM", "\(name)") }
    }

    /// Other processes are visible in /proc, and closed; the command has its three descriptors.
    @Test func otherProcessesAreClosed() async throws {
        let sibling = try ChildProcess(ProcessLaunch("/bin/sleep", ["60"]))
        defer { sibling.signal(SIGKILL) }
        let found = try await probes(
            "closed",
            """
            for name, process in (("server", parent), ("sibling", \(sibling.pid))):
                for part in ("environ", "mem", "maps", "io"):
                    probe(name + part, lambda: open("/proc/%d/%s" % (process, part), "rb").read(1))
                probe(name + "cwd", lambda: os.listdir("/proc/%d/cwd" % process))
                probe(name + "fd", lambda: os.readlink("/proc/%d/fd/0" % process))
                probe(name + "kill", lambda: os.kill(process, 9))
            print("descriptors", ",".join(sorted(set(os.listdir("/proc/self/fd")) - {"3", "4"})))
            """)
        guard var found else { return }
        #expect(found.removeValue(forKey: "descriptors") == "0,1,2")
        #expect(found.count == 14)
        for (name, result) in found { #expect(["EACCES", "EPERM"].contains(result), "\(name) \(result)") }
        #expect(kill(sibling.pid, 0) == 0)
    }

    @Test func withoutANetworkThereIsNoSocket() async throws {
        let found = try await probes(
            "closed",
            """
            for family in (1, 2, 10, 16, 17, 31, 38, 40):
                for kind in (1, 2, 3, 5): probe("s%d_%d" % (family, kind), make(family, kind, 0))
            probe("pair", lambda: socket.socketpair()[0].close())
            probe("packets", lambda: socket.socketpair(1, 5)[0].close())
            for kind in (2, 3, 2 | 0o4000, 3 | 0o2004000): probe("pair%d" % kind, lambda: socket.socketpair(1, kind))
            probe("lease", lambda: __import__("fcntl").fcntl(0, 1024, 1))
            call("listen", 50, 201, 0, 1)
            """)
        guard var found else { return }
        #expect(found.removeValue(forKey: "pair") == "ok")
        #expect(found.removeValue(forKey: "packets") == "ok")
        #expect(found.count == 38)
        for (name, result) in found { #expect(result == "EACCES", "\(name)") }
    }

    /// Ports hold for TCP; what would get around them does not exist.
    @Test func portsOfTCP() async throws {
        let listener = try TCPListenerForTests()
        let found = try await probes(
            "ports",
            """
            def connect(port, family=2):
                s = socket.socket(family); s.settimeout(5); s.connect(("127.0.0.1", port)); s.close()
            probe("allowed", lambda: connect(\(listener.port)))
            probe("other", lambda: connect(\(listener.port ^ 1)))
            def listen(port):
                s = socket.socket(); s.bind(("127.0.0.1", port)); s.listen(); s.close()
            probe("anyport", lambda: listen(0))
            probe("fixed", lambda: listen(\(listener.port ^ 1)))
            for name, args in (("udp", (2, 2)), ("udp6", (10, 2)), ("mptcp", (2, 1, 262)), ("sctp", (2, 1, 132)),
                               ("raw", (2, 3, 1)), ("icmp", (2, 2, 1)), ("unix", (1, 1)), ("netlink", (16, 3))):
                probe(name, make(*args))
            probe("fastopen", lambda: socket.socket().sendto(b"x", 0x20000000, ("127.0.0.1", \(listener.port ^ 1))))
            """, port: listener.port)
        withExtendedLifetime(listener) {}
        guard var found else { return }
        #expect(found.removeValue(forKey: "allowed") == "ok")
        #expect(found.removeValue(forKey: "anyport") == "ok")
        #expect(found.removeValue(forKey: "fastopen") == "ENOTSUP")
        #expect(found.count == 10)
        for (name, result) in found { #expect(result == "EACCES", "\(name)") }
        let web = try await probes(
            "web", "probe('listen', lambda: socket.socket().listen())")
        #expect(web == ["listen": "EACCES"])
    }

    @Test func kindsOfSockets() async throws {
        let path = "/tmp/mcp-daemon-test.\(UInt64.random(in: .min ... .max))"
        let abstract = "mcp-\(UInt64.random(in: .min ... .max))"
        let code = """
            probe("udp", make(2, 2)); probe("udp6", make(10, 2, 17)); probe("tcp", make(2, 1)); probe("unix", make(1, 1))
            probe("netlink", make(16, 3))
            """
        guard let dns = try await probes("dns", code), let unix = try await probes("unix", code) else {
            return
        }
        #expect(dns == ["udp": "ok", "udp6": "ok", "tcp": "EACCES", "unix": "EACCES", "netlink": "EACCES"])
        #expect(
            unix == ["udp": "EACCES", "udp6": "EACCES", "tcp": "EACCES", "unix": "ok", "netlink": "EACCES"])
        // An abstract socket of another process is out of reach, a path is not.
        let server = """
            import socket, sys
            for name in (sys.argv[1], "\\0" + sys.argv[2]):
                s = socket.socket(1); s.bind(name); s.listen(); globals()["s%d" % len(name)] = s
            print("ready", flush=True); sys.stdin.read()
            """
        let python = try #require(RealPython.shared)
        let other = try ChildProcess(ProcessLaunch(python.program, ["-c", server, path, abstract]))
        defer {
            other.signal(SIGKILL)
            unsafe unlink(path)
        }
        #expect(await eventually { unsafe access(path, F_OK) == 0 })
        let reached = try await probes(
            "unix",
            """
            import time
            def connect(name): s = socket.socket(1); s.connect(name); s.close()
            for _ in range(500):
                try: connect("\(path)"); break
                except OSError: time.sleep(0.01)
            probe("path", lambda: connect("\(path)"))
            probe("abstract", lambda: connect("\\0\(abstract)"))
            """)
        #expect(reached == ["path": "ok", "abstract": "EPERM"])
    }

    /// A process that leaves its session and its parent keeps its sandbox.
    @Test func aDaemonizedChildIsStillConfined() async throws {
        let found = try await probes(
            "closed",
            """
            r, w = os.pipe()
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    os.dup2(w, 1); sys.stdout = os.fdopen(1, "w", closefd=False)
                    probe("socket", make(2, 1)); probe("file", lambda: open("/etc/shadow").read(1))
                    probe("kill", lambda: os.kill(parent, 0))
                    sys.stdout.flush(); os._exit(0)
                os._exit(0)
            os.close(w); print(os.read(r, 1000).decode() + os.read(r, 1000).decode())
            """)
        guard let found else { return }
        #expect(found == ["socket": "EACCES", "file": "EACCES", "kill": "EPERM"])
    }

    /// No capability is left, and no program gives any back.
    @Test func privilegesAreGone() async throws {
        let found = try await probes(
            "bare",
            """
            for line in open("/proc/self/status"):
                name, value = line.split(":", 1)
                if name.startswith("Cap") or name in ("NoNewPrivs", "Seccomp"): print(name, value.strip())
            """)
        guard var found else { return }
        #expect(found.removeValue(forKey: "NoNewPrivs") == "1")
        #expect(found.removeValue(forKey: "Seccomp") == "2")
        // Only root can empty the set that bounds what programs give; no_new_privs does the same.
        if geteuid() != 0 { found["CapBnd"] = nil }
        #expect(found.count >= 4)
        for (name, value) in found { #expect(value.allSatisfy { $0 == "0" }, "\(name) \(value)") }
    }

    #if arch(x86_64)
    /// The second numbering of system calls would pass the filter; it ends the program, and the result says why.
    @Test func callsOfAnotherNumbering() async throws {
        let fixture = try SandboxFixture(
            #"{"tools":{"t":{"exec":["PYTHON","-c","import ctypes; ctypes.CDLL(None).syscall(0x40000027)"],"#
                + #""sandbox":{}}}}"#)
        guard SandboxFixture.isComplete else { return }
        #expect(
            try await fixture.call("t").errors
                == "killed by signal 31 (SIGSYS: a system call that its sandbox does not allow)\n")
    }
    #endif

    @Test func anotherUser() async throws {
        guard geteuid() == 0 else {
            print("not tested: a sandbox with another user, which only root can start")
            return
        }
        var text = Self.configuration.replacing("PORT", with: "1")
        text = text.replacing("ROOT", with: Self.rootTools)
        let fixture = try SandboxFixture(text)
        guard SandboxFixture.isComplete else { return }
        let ids = try await fixture.call("low", "code=id -u; id -G; echo $HOME; cat /proc/self/status")
        let account = try #require(Accounts.account(named: "nobody"))
        #expect(
            ids.output.hasPrefix("\(account.id)\n\(account.group)\n\(account.home ?? "")\n"), "\(ids.output)")
        #expect(ids.output.contains("CapBnd:\t0000000000000000"))
        // A program with the set-user-ID bit, as far as there is one.
        let su = try await fixture.call("low", "code=su root -c id </dev/null; cat /etc/shadow")
        #expect(su.status == .exited(1) && !su.output.contains("uid=0"), "\(su.output)")
        let fork = try await fixture.call("fork")
        #expect(fork.errors.lowercased().contains("fork"), "\(fork.errors) \(fork.output)")
    }
}

/// A TCP socket that listens on a port of its own.
private final class TCPListenerForTests {
    let port: Int
    private let fd: Int32

    init() throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(socket, address, length) + listen(socket, 8)
                    + getsockname(socket, address, &length)
            }
        }
        try #require(status == 0)
        fd = socket
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(fd) }
}
#endif
