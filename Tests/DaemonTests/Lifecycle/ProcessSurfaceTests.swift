import MCPCore
import TestSupport
import Testing

#if os(Linux)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What surrounds the process of a server: other processes of its user, and libraries that are loaded first.
@Suite(.timeLimit(.minutes(5))) struct ProcessSurfaceTests {
    private static func file(_ directory: TemporaryDirectory) throws -> String {
        try directory.write("mcp.jsonc", #"{"tools":{"t":{"exec":["sleep","86400"]}}}"#)
        return "\(directory.path)/mcp.jsonc"
    }

    /// The environment of the server may hold secrets: a command of the same user cannot read it there. Files
    /// of a hidden process belong to root (proc(5)).
    @Test func theEnvironmentIsHiddenFromTheSameUser() async throws {
        let directory = try TemporaryDirectory()
        try #require(unsafe chmod(directory.path, 0o755) == 0)
        let file = try Self.file(directory)
        let program = try WatchedProgram.path()
        var arguments = ["-c", file, "--listen", "unix://\(directory.path)/s"]
        var launched = program
        if getuid() == 0 {
            // Root owns everything anyway.
            let change = "/usr/bin/setpriv"
            guard unsafe access(change, X_OK) == 0 else { return print("skipped: setpriv is missing") }
            arguments = ["--reuid=65534", "--clear-groups", program] + arguments
            launched = change
            for path in [file, directory.path] { try #require(unsafe chown(path, 65_534, 65_534) == 0) }
        }
        var launch = ProcessLaunch(launched, arguments, environment: WatchedProgram.environment)
        launch.input = .null
        launch.output = .null
        launch.errors = .null
        let child = try ChildProcess(launch)
        let pid = child.pid
        #expect(await eventually { unsafe access("\(directory.path)/s", F_OK) == 0 })
        #expect(try Files.info("/proc/\(pid)/environ").owner == 0)
        // The process itself is not root's.
        let status = String(decoding: try Files.read("/proc/\(pid)/status", maxBytes: 8_192), as: UTF8.self)
        #expect(!status.contains("Uid:\t0\t"))
        child.signal(SIGTERM)
        _ = await child.wait()
    }

    /// A library that changes the environment before `main`, as libfaketime does, takes no argument away.
    @Test func aLibraryThatIsLoadedFirstTakesNoArgument() async throws {
        let compilers: [String] = ["/usr/bin/cc", "/usr/bin/clang"]
        guard let compiler = compilers.first(where: { unsafe access($0, X_OK) == 0 }) else {
            return print("skipped: a C compiler is missing")
        }
        let directory = try TemporaryDirectory()
        try directory.write(
            "early.c",
            """
            #include <stdlib.h>
            __attribute__((constructor)) static void early(void) { setenv("EARLY", "1", 1); }
            """)
        let library = "\(directory.path)/early.so"
        var build = ProcessLaunch(
            compiler, ["-shared", "-fPIC", "-o", library, "\(directory.path)/early.c"],
            environment: WatchedProgram.environment)
        build.input = .null
        try #require(await ChildProcess(build).wait() == .exited(0))
        var environment = WatchedProgram.environment
        environment["LD_PRELOAD"] = library
        let socket = "\(directory.path)/s"
        let program = try await WatchedProgram(
            ["-c", try Self.file(directory), "--listen", "unix://\(socket)"], environment: environment)
        let client = try await MCPClient.connect(.unix(path: socket))
        #expect(try await client.listTools().map(\.name) == ["t"])
        await client.close()
        await program.stop()
    }
}
#endif
