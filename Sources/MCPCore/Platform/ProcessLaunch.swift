#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A description of a process to start: a program and its arguments, never a command line. No shell is
/// involved.
package struct ProcessLaunch: Sendable {
    /// The target of one of the child's descriptors 0, 1 and 2.
    package enum Stream: Sendable, Hashable {
        /// A pipe to this process.
        case pipe
        /// /dev/null.
        case null
        /// The file that this process has at the same number.
        case inherit
        /// A duplicate of this open descriptor.
        case descriptor(Int32)
    }

    /// The process group of the child, which determines the signals that reach it.
    package enum Group: Sendable, Hashable {
        /// A process group of its own: Ctrl-C in the terminal reaches only this process.
        case own
        /// A session of its own, without a controlling terminal.
        case session
        /// The group of this process.
        case parent
    }

    /// The program: a path if it contains a slash (a relative one starts at this process's directory),
    /// otherwise a name that is looked up in PATH.
    package var program: String
    /// The program's name in process lists: its argument 0. Nil: `program`.
    package var name: String?
    /// The arguments without the program's name.
    package var arguments: [String]
    /// The complete environment of the child. Nil: that of this process.
    package var environment: [String: String]?
    /// The directory in which the child starts; it may be one of `descriptors`. Nil: that of this process.
    package var directory: String?
    package var group = Group.own
    package var input = Stream.pipe
    package var output = Stream.pipe
    package var errors = Stream.pipe
    /// What the child receives from descriptor 3 on, at most `PassedDescriptor.maxCount`.
    package var descriptors: [PassedDescriptor] = []
    /// What limits the child. If there is anything, the child is first another instance of this program,
    /// which must run `RestrictedProgram`.
    package var restriction = ProcessRestriction()

    package init(
        _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        directory: String? = nil
    ) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
    }

    /// Returns the process to start in place of this one: itself, or the program that restricts itself and
    /// becomes the program at `path`.
    func restricted(_ path: String) -> ProcessLaunch {
        guard !restriction.isEmpty else { return self }
        var launch = self
        launch.program = SupervisorProgram.ownProgram
        launch.name = name ?? program
        launch.restriction.descriptors = descriptors.count
        launch.arguments = RestrictedProgram.arguments(
            launch.restriction, program: path, [launch.name ?? program] + arguments)
        return launch
    }

    /// Returns the path of the file to execute.
    ///
    /// - Throws: `SpawnError` with the directories that were searched.
    package func resolvedProgram() throws(SpawnError) -> String {
        if program.isEmpty { throw .invalid("the program's name is empty") }
        if program.utf8.contains(0x2F) {
            if let reason = Self.whyNotExecutable(program) {
                throw .notExecutable(path: program, reason: reason)
            }
            return absolute(program)
        }
        let path = environment.map { $0["PATH"] } ?? Environment.value("PATH")
        let searched = path ?? "/usr/local/bin:/usr/bin:/bin"
        var refused: (path: String, reason: IOError)?
        for directory in searched.split(separator: ":", omittingEmptySubsequences: true) {
            let candidate = "\(directory)/\(program)"
            guard let reason = Self.whyNotExecutable(candidate) else { return absolute(candidate) }
            if reason.errno != ENOENT, reason.errno != ENOTDIR { refused = refused ?? (candidate, reason) }
        }
        if let refused { throw .notExecutable(path: refused.path, reason: refused.reason) }
        throw .notFound(program: program, searched: searched)
    }

    /// Makes a path absolute if the child changes its directory before it executes the program: a relative
    /// path would refer to a different file there.
    private func absolute(_ path: String) -> String {
        guard directory != nil, !path.hasPrefix("/"), let here = Files.currentDirectory else { return path }
        return "\(here)/\(path)"
    }

    private static func whyNotExecutable(_ path: String) -> IOError? {
        var status = stat()
        if unsafe stat(path, &status) != 0 { return IOError("stat") }
        if status.st_mode & S_IFMT == S_IFDIR { return IOError(errno: EISDIR, function: "execute") }
        return unsafe access(path, X_OK) == 0 ? nil : IOError("access")
    }
}

/// The reason why a process could not be started.
package enum SpawnError: Error, Sendable, Hashable, CustomStringConvertible {
    case notFound(program: String, searched: String)
    case notExecutable(path: String, reason: IOError)
    case badDirectory(path: String, reason: IOError)
    case invalid(String)
    case failed(IOError)

    package var description: String {
        switch self {
        case .notFound(let program, let searched):
            "\(program): not found in PATH (\(Self.shown(searchPath: searched))); "
                + "give its full path or extend PATH"
        case .notExecutable(let path, let reason): "\(path): cannot be executed: \(reason.reason)"
        case .badDirectory(let path, let reason):
            "cannot use \(path) as the working directory: \(reason.reason)"
        case .invalid(let text): text
        case .failed(let error): "cannot start a process: \(error)"
        }
    }

    /// Returns the directories of a search path, or their number if they are many.
    package static func shown(searchPath path: String) -> String {
        let count = path.split(separator: ":").count
        return path.utf8.count <= 80 ? path : "\(count) directories"
    }
}
