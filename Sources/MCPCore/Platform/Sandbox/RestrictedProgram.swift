#if os(Linux)
import CMCPSystem
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The reason why a sandbox could not be set up.
struct SandboxFailure: Error {
    var text: String

    init(_ text: String) { self.text = text }

    init(_ subject: String, _ error: IOError) { text = "\(subject): \(error.reason)" }
}

/// The program that restricts itself and then becomes another program.
///
/// No code may run between fork and exec, so a program with restrictions is started through this one.
package enum RestrictedProgram {
    /// The command word with which this program does so; not for people.
    package static let command = "restrict"

    /// The exit code when the other program could not be executed, as in a shell.
    private static let cannotExecute: Int32 = 126

    /// Returns the arguments for this program: the restrictions, a program, and its complete arguments.
    static func arguments(_ restriction: ProcessRestriction, program: String, _ argv: [String]) -> [String] {
        [command] + restriction.words + ["--", program] + argv
    }

    /// Executes the program that the arguments name, without the command word. Returns an exit code if that
    /// fails, after a line on standard error.
    package static func run(_ arguments: some Collection<String>) -> Int32 {
        let words = arguments.prefix { $0 != "--" }
        let command = Array(arguments.dropFirst(words.count + 1))
        guard let restriction = ProcessRestriction(words: words), let program = command.first,
            command.count > 1
        else {
            return fail("these arguments are not for people")
        }
        var argv = unsafe command.dropFirst().map { unsafe strdup($0) } + [nil]
        defer { unsafe argv.forEach { unsafe free($0) } }
        do throws(SandboxFailure) {
            try restriction.sandbox?.enter(program, descriptors: restriction.descriptors)
        } catch {
            return fail("\(program) was not started: its sandbox cannot be set up: \(error.text)")
        }
        do throws(IOError) {
            try restriction.limits.apply()
        } catch {
            return fail("the limits of \(program) cannot be set: \(error.reason)")
        }
        unsafe execv(program, &argv)
        return fail("\(program) cannot be executed: \(IOError("execv").reason)")
    }

    private static func fail(_ text: String) -> Int32 {
        let line = Array("mcp-server: \(text)\n".utf8)
        // Nobody reads it: the exit code remains.
        _ = unsafe line.withUnsafeBytes { unsafe try? Syscalls.write(STDERR_FILENO, $0) }
        return cannotExecute
    }
}

extension Sandbox {
    /// Imposes the sandbox on this process, which has one thread and is about to become `program`.
    ///
    /// - Parameter descriptors: the number of descriptors from 3 that the program receives.
    fileprivate func enter(_ program: String, descriptors: Int) throws(SandboxFailure) {
        let support = SandboxSupport.current
        let missing = support.missing(for: self)
        if !missing.isEmpty, !isBestEffort {
            throw SandboxFailure(missing.joined(separator: "; "))
        }
        // Until the program begins, nobody may trace a process that still has its privileges.
        ProcessPrivacy.begin()
        #if os(Linux)
        _ = mcp_close_range(
            UInt32(PassedDescriptor.first) + UInt32(descriptors), .max, UInt32(MCP_CLOSE_RANGE_CLOEXEC))
        let searchPath = Environment.value("PATH") ?? ""
        let rules =
            support.landlock > 0
            ? try Landlock.rules(
                of: self, version: support.landlock,
                program: ProgramFiles.paths(of: program, searchPath: searchPath)) : nil
        try Privileges.drop(to: user)
        if let rules { try rules.enforce() }
        if support.hasSyscallFilter { try SyscallFilter(self).install() }
        #else
        try Privileges.drop(to: user)
        #endif
    }
}
