import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if os(Linux)
import Glibc

/// What a command in a sandbox can do to files, with real processes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SandboxFilesTests {
    private static let configuration = #"""
        { "sandboxes": {
            "ro": { "fs": { "read": ["DIR/in"], "exec": ["/usr/bin", "/bin"] }, "net": "none" },
            "rw": { "fs": { "read": ["PREFIX"], "write": ["DIR/in"] } },
            "strict": { "fs": {} }
          },
          "sandbox": "ro",
          "tools": {
            "sh": { "input": {"code": {"type": "string"}}, "exec": ["sh", "-c", "eval \"$1\"", "sh", "{code}"] },
            "strict": { "input": {"code": {"type": "string"}}, "sandbox": "strict",
                        "exec": ["sh", "-c", "eval \"$1\"", "sh", "{code}"] },
            "python": { "input": {"code": {"type": "string"}}, "exec": ["PYTHON", "-"], "stdin": "{code}",
                        "sandbox": "rw" },
            "reader": { "input": {"code": {"type": "string"}}, "exec": ["PYTHON", "-"], "stdin": "{code}",
                        "sandbox": { "fs": { "read": ["PREFIX", "DIR/in"] }, "net": "none" } },
            "opened": { "input": {"p": {"type": "string", "format": "path", "x-root": "DIR/out", "x-open": true},
                                  "q": {"type": "string", "format": "path", "x-root": "DIR/in", "x-open": true}},
                        "exec": ["sh", "-c", "cat \"$2\" && echo && cat \"$1\"", "sh", "{p}", "{q}"] },
            "open": { "exec": ["cat", "DIR/out/secret"], "sandbox": "none" },
            "script": { "exec": ["DIR/script"], "sandbox": "strict" }
          } }
        """#

    private func call(_ tool: String, _ code: String) async throws -> SandboxFixture.Outcome? {
        let fixture = try SandboxFixture(Self.configuration)
        guard SandboxFixture.isComplete else {
            let outcome = try await fixture.call(tool, "code=true")
            #expect(outcome.status == .exited(2) && outcome.errors.contains("cannot be enforced here"))
            return nil
        }
        return try await fixture.call(tool, "code=\(code)")
    }

    /// A program that its owner's rights go with would give them to everyone outside.
    @Test func noFileGetsTheBitsOfItsOwner() async throws {
        let code = """
            import errno, os
            os.makedirs("in/new", 0o755); os.chdir("in/new")
            def refused(work):
                try: work()
                except PermissionError: return True
                return False
            open("f", "w").close(); fd = os.open("f", os.O_RDONLY)
            tries = [lambda: os.chmod("f", 0o4755), lambda: os.chmod("f", 0o2755), lambda: os.fchmod(fd, 0o6755),
                     lambda: os.open("g", os.O_CREAT | os.O_WRONLY, 0o4755), lambda: os.mknod("h", 0o104755)]
            print([refused(one) for one in tries], sorted(os.listdir(".")))
            os.chmod("f", 0o755); print(oct(os.stat("f").st_mode))
            """
        guard let outcome = try await call("python", code) else { return }
        #expect(
            outcome.output == "[True, True, True, True, True] ['f']\n0o100755\n",
            "\(outcome.output)\(outcome.errors)")
    }

    /// The attributes of a file are changed with a descriptor for reading, too.
    @Test func aReaderChangesNoAttributes() async throws {
        let code = """
            import array, errno, fcntl
            f = open("in/file")
            def refused(request):
                try: fcntl.ioctl(f, request, bytearray(128))
                except OSError as e: return e.errno == errno.EPERM
                return False
            # FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION, FS_IOC_ENABLE_VERITY,
            # FS_IOC_SET_ENCRYPTION_POLICY, FS_IOC_ADD_ENCRYPTION_KEY, FICLONE, FIDEDUPERANGE; the first of 32 bits
            changes = [0x40086602, 0x401c5820, 0x40087602, 0x40806685, 0x800c6613, 0xc0506617, 0x40049409, 0xc0189436,
                       0x40046602]
            # FS_IOC_GETFLAGS, FS_IOC_FSGETXATTR, FIGETBSZ, FIOQSIZE, TCGETS
            queries = [0x80086601, 0x801c581f, 2, 0x5460, 0x5401]
            print([refused(one) for one in changes], [refused(one) for one in queries])
            size = array.array("i", [0]); fcntl.ioctl(f, 0x541b, size); print(size[0])
            """
        guard let outcome = try await call("reader", code) else { return }
        let changes = Array(repeating: "True", count: 9).joined(separator: ", ")
        let queries = Array(repeating: "False", count: 5).joined(separator: ", ")
        #expect(
            outcome.output == "[\(changes)] [\(queries)]\n4\n", "\(outcome.output)\(outcome.errors)")
    }

    /// Memory, semaphores and queues of System V, and queues of POSIX, connect programs of one user.
    @Test func withoutANetworkNothingIsShared() async throws {
        let code = """
            import ctypes, errno
            libc = ctypes.CDLL(None, use_errno=True)
            key, flags = 0x4D435021, 0o1600
            for one in [lambda: libc.shmget(key, 4096, flags), lambda: libc.semget(key, 1, flags),
                        lambda: libc.msgget(key, flags), lambda: libc.shmat(0, None, 0),
                        lambda: libc.mq_open(b"/mcp-tests", 0o102, 0o600, None)]:
                ctypes.set_errno(0); print(one(), ctypes.get_errno() == errno.EACCES)
            """
        guard let outcome = try await call("reader", code) else { return }
        #expect(
            outcome.output == String(repeating: "-1 True\n", count: 5), "\(outcome.output)\(outcome.errors)")
    }

    /// Swift programs find their arguments there.
    @Test func aProgramReadsItsOwnArgumentsOnly() async throws {
        let code = """
            print(open("/proc/self/cmdline").read().endswith("-\\0"))
            for name in ["/proc/self/environ", "/proc/1/cmdline", "/proc/%d/cmdline" % __import__("os").getppid()]:
                try: open(name).read(); print("open", name)
                except PermissionError: pass
            """
        guard let outcome = try await call("python", code) else { return }
        #expect(outcome.output == "True\n", "\(outcome.output)\(outcome.errors)")
    }

    @Test func readsWhatIsAllowedAndTheSystem() async throws {
        guard let outcome = try await call("sh", "cat in/file /etc/passwd; echo x > /dev/null && ls in")
        else {
            return
        }
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("open") && outcome.output.contains("root:"))
        #expect(outcome.output.hasSuffix("file\n"))
    }

    @Test(arguments: [
        "cat out/secret", "ls out", "cat in/../out/secret", "echo x > in/file", "echo x > in/new",
        "mkdir in/d", "rm in/file", "mv in/file in/other", "ln in/file in/hard", "ln -s /etc in/l",
        "chmod 777 in/file",
        "touch in/file", "ls /root", "cat mcp.jsonc", "mkfifo in/f", "cat /proc/1/environ", "cp in/file /tmp",
    ]) func refusesEverythingElse(_ code: String) async throws {
        guard let outcome = try await call("sh", code) else { return }
        #expect(outcome.status == .exited(1), "\(code): \(outcome.output)")
        #expect(!(outcome.output + outcome.errors).contains("closed"))
        #expect(
            outcome.errors.contains("Permission denied") || outcome.errors.contains("not permitted"),
            "\(code): \(outcome.errors)")
        #expect(outcome.errors.hasSuffix("note: sandbox ro may have refused this\n"))
    }

    /// A descriptor gives no right that the sandbox does not: the command opens the file itself.
    @Test func anOpenedPathIsNoWayAround() async throws {
        let fixture = try SandboxFixture(Self.configuration)
        guard SandboxFixture.isComplete else { return }
        let outcome = try await fixture.call("opened", "p=secret", "q=file")
        #expect(outcome.status == .exited(1))
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.contains("open") && !(outcome.output + outcome.errors).contains("closed"), "\(lines)")
        #expect(lines.contains { $0.hasSuffix("/proc/self/fd/3: Permission denied") }, "\(lines)")
    }

    /// Links, renames and duplicates of descriptors lead nowhere, and nothing outside is emptied.
    @Test func tricksWithLinksAndRenames() async throws {
        let code = """
            import os
            os.chdir("DIR/in")
            def no(name, body):
                try: body(); print("BROKEN", name)
                except OSError as e: print(name, e.strerror)
            os.symlink("../out/secret", "link")
            no("link", lambda: open("link").read())
            os.symlink("../out", "dir")
            no("dir", lambda: open("dir/secret").read())
            no("rename out", lambda: os.rename("file", "../out/file"))
            no("rename in", lambda: os.rename("../out/secret", "secret"))
            no("hard link", lambda: os.link("../out/secret", "hard"))
            no("truncate", lambda: os.truncate("../out/secret", 0))
            no("open", lambda: os.open("../out/secret", os.O_RDONLY | os.O_TRUNC))
            no("remove", lambda: os.remove("../out/secret"))
            no("device", lambda: os.mknod("dev", 0o20600, os.makedev(1, 1)))
            os.mkdir("a"); os.mkdir("b"); open("a/x", "w").write("1"); os.rename("a/x", "b/x"); os.link("b/x", "a/y")
            os.chmod("b/x", 0o600); os.remove("a/y")
            print("inside works")
            """
        let fixture = try SandboxFixture(Self.configuration)
        guard SandboxFixture.isComplete else { return }
        let outcome = try await fixture.call("python", "code=\(code.replacing("DIR", with: fixture.path))")
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        #expect(!outcome.output.contains("BROKEN"), "\(outcome.output)")
        #expect(outcome.output.split(separator: "\n").count == 10, "\(outcome.output)")
        #expect(outcome.output.hasSuffix("inside works\n"))
        #expect(try Files.read("\(fixture.path)/out/secret", maxBytes: 100) == Array("closed".utf8))
    }

    /// Without `exec`, there is only the program itself; a shell runs no other.
    @Test func onlyTheProgramItselfIsExecuted() async throws {
        let fixture = try SandboxFixture(Self.configuration)
        guard SandboxFixture.isComplete else { return }
        let builtin = try await fixture.call("strict", "code=echo built in")
        #expect(builtin.output == "built in\n", "\(builtin.errors)")
        for code in ["cat /etc/passwd", "cp /bin/true in/x; ./in/x"] {
            let outcome = try await fixture.call("strict", "code=\(code)")
            #expect(outcome.status == .exited(1) && outcome.output.isEmpty)
            #expect(outcome.errors.contains("Permission denied"), "\(outcome.errors)")
        }
    }

    /// A script's interpreter, and what env finds, belong to the program.
    @Test(arguments: ["#!/bin/sh", "#!/usr/bin/env sh", "#!/usr/bin/env -S sh -e"])
    func interpretersOfScripts(_ line: String) async throws {
        let fixture = try SandboxFixture(Self.configuration)
        guard SandboxFixture.isComplete else { return }
        try fixture.directory.get().write("script", Array("\(line)\necho ran\n".utf8), mode: 0o755)
        let outcome = try await fixture.call("script")
        #expect(outcome.output == "ran\n", "\(outcome.errors)")
    }

    @Test func aToolWithoutSandboxIsNotConfined() async throws {
        let fixture = try SandboxFixture(Self.configuration)
        guard SandboxFixture.isComplete else { return }
        #expect(try await fixture.call("open").output == "closed\n")
    }

    /// A tool that may write replaces a directory that another one may read by a link to all others.
    @Test func aDirectoryThatBecomesALink() async throws {
        let fixture = try SandboxFixture(
            #"""
            { "sandbox": { "fs": { "write": ["DIR/in"], "exec": ["/usr/bin"] } },
              "tools": {
                "swap": { "exec": ["sh", "-c", "rmdir DIR/in/sub && ln -s DIR/out DIR/in/sub"] },
                "read": { "exec": ["cat", "DIR/in/sub/secret"], "sandbox": { "fs": { "read": ["DIR/in/sub"] } } }
            } }
            """#)
        guard SandboxFixture.isComplete else { return }
        try fixture.directory.get().makeDirectory("in/sub")
        let socket = "\(fixture.path)/s.sock"
        let program = try await WatchedProgram(configuration: "\(fixture.path)/mcp.jsonc", socket: socket)
        let client = try await MCPClient.connect(.unix(path: socket))
        #expect(try await client.callTool("swap").isError == false)
        let read = try await client.callTool("read")
        #expect(read.isError && !read.text.contains("closed"), "\(read.text)")
        #expect(read.text.contains("its sandbox cannot be set up: \(fixture.path)/in/sub: "), "\(read.text)")
        await client.close()
        await program.stop()
    }

    /// A directory that has gone since the start: the command is not started without its rule.
    @Test func aPathThatIsGoneIsNoPermission() async throws {
        let fixture = try SandboxFixture(Self.configuration)
        guard SandboxFixture.isComplete else { return }
        var launch = ProcessLaunch(
            try WatchedProgram.path(),
            [
                "restrict", "sandbox=refuse", "files=only", "read=\(fixture.path)/gone", "--", "/bin/echo",
                "echo",
            ])
        launch.input = .null
        let result = try await Offload.run { [launch] in try ProcessRunner.run(launch) }
        #expect(result.status == .exited(126) && result.output.isEmpty)
        #expect(
            String(decoding: result.errors, as: UTF8.self)
                == "mcp-server: /bin/echo was not started: its sandbox cannot be set up: \(fixture.path)/gone: "
                + "No such file or directory\n")
    }
}
#endif
