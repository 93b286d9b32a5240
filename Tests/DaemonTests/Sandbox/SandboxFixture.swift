import MCPCore
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Python 3 without the wrappers of version managers: what a sandbox has to name.
struct RealPython: Sendable {
    /// The program, with all links followed.
    let program: String
    /// The directory with its modules.
    let prefix: String

    static let shared: RealPython? = {
        let code = "import sys, os; print(os.path.realpath(sys.executable)); print(sys.base_prefix)"
        let launch = ProcessLaunch("python3", ["-c", code])
        guard let result = try? ProcessRunner.run(launch), result.status == .exited(0) else { return nil }
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(String.init)
        return lines.count == 2 ? RealPython(program: lines[0], prefix: lines[1]) : nil
    }()
}

/// A configuration with sandboxes in a directory with something to protect, and the real program.
final class SandboxFixture {
    let directory = Result { try TemporaryDirectory() }
    let python: RealPython

    /// Whether this kernel has all that the tests expect; without it, they expect the refusal.
    static var isComplete: Bool {
        let support = SandboxSupport.current
        let isComplete = support.landlock >= 6 && support.hasSyscallFilter
        if !isComplete { print("sandboxes: tested is only their refusal, for this system has \(support)") }
        return isComplete
    }

    /// The directory of what tools may use, and of what they may not.
    var path: String { (try? directory.get().path) ?? "" }

    /// - Parameter tools: the members of `tools`, in which PYTHON is a program.
    init(_ configuration: String) throws {
        python = try #require(RealPython.shared, "python3 is needed")
        let folder = try directory.get()
        for name in ["in", "out"] { try folder.makeDirectory(name) }
        try folder.write("in/file", "open")
        try folder.write("out/secret", "closed")
        let text = configuration.replacing("PYTHON", with: python.program)
            .replacing("PREFIX", with: python.prefix).replacing("DIR", with: path)
        try folder.write("mcp.jsonc", text)
    }

    struct Outcome {
        var status: ProcessExit
        var output: String
        var errors: String
    }

    /// Runs the program with these arguments, in this directory; through another one if `words` name it.
    func run(_ arguments: [String], through words: [String] = []) async throws -> Outcome {
        let all = words + [try WatchedProgram.path()] + arguments
        let launch = ProcessLaunch(
            all[0], Array(all.dropFirst()), environment: WatchedProgram.environment, directory: path)
        let result = try await Offload.run { try ProcessRunner.run(launch) }
        return Outcome(
            status: result.status, output: String(decoding: result.output, as: UTF8.self),
            errors: String(decoding: result.errors, as: UTF8.self))
    }

    /// Calls a tool in a process of its own.
    func call(_ tool: String, _ words: String..., through other: [String] = []) async throws -> Outcome {
        try await run(["-c", "mcp.jsonc", "call", tool] + words, through: other)
    }

    /// Writes a program that starts another one on a kernel whose Landlock answers ENOSYS, and returns the
    /// words that use it.
    func withoutLandlock() throws -> [String] {
        try directory.get().write("old.py", Self.oldKernel)
        return [python.program, "\(path)/old.py"]
    }

    private static let oldKernel = """
        import ctypes, os, platform, struct, sys
        def step(code, value, yes=0, no=0): return struct.pack("=HBBI", code, yes, no, value)
        code = b"".join([step(0x20, 0), step(0x35, 447, 2, 0), step(0x35, 444, 0, 1), step(6, 0x50000 | 38),
                         step(6, 0x7FFF0000)])
        class Program(ctypes.Structure): _fields_ = [("count", ctypes.c_ushort), ("code", ctypes.c_void_p)]
        memory = ctypes.create_string_buffer(code, len(code))
        program = Program(len(code) // 8, ctypes.addressof(memory))
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
        os.execvp(sys.argv[1], sys.argv[1:])
        """
}
