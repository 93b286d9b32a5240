import MCPCore

/// A function that writes a whole file.
typealias FileWriter = @Sendable ([UInt8]) throws(Failure) -> Void

/// Everything outside itself that a command uses. Tests supply their own.
struct CommandEnvironment: Sendable {
    var stdout: any Sink
    var stderr: any Sink
    var input: ArgumentInput
    /// Returns a variable of the process environment.
    var variable: @Sendable (String) -> String?
    /// Returns the permission bits of a regular file; nil for anything else.
    var permissions: @Sendable (String) -> UInt32? = { _ in nil }
    /// The files with secrets about which a warning was given.
    let exposedFiles = ExposedFiles()
    /// The logins that requests use.
    let openLogins = OpenLogins()
    /// Checks the location of a file before anything is sent, and returns a function that writes it.
    var outputFile: @Sendable (String) throws(Failure) -> FileWriter
    /// The same for a file beside the one that the user named, which follows no links; nil: `outputFile`.
    var besideFile: (@Sendable (String) throws(Failure) -> FileWriter)?
    /// Returns a variable that contains a secret: programs started by this one do not inherit it.
    var secret: @Sendable (String) -> String?
    /// The person at the terminal; nil when there is none.
    var person: Person?
    var connect: @Sendable (Target, Options, ClientOptions) async throws -> MCPClient

    /// Returns all variables of the process environment.
    var allVariables: @Sendable () -> [String: String] = { [:] }
    /// The current directory, where the search for the configuration of a project begins.
    var currentDirectory = "/"

    /// The next line of the standard input, for commands that read lines; nil at the end.
    var nextLine: @Sendable () async -> InputLine? = { nil }
    /// The bytes of the keys that are pressed next at the terminal; nil at the end.
    var keyBytes: @Sendable () async -> [UInt8]? = { nil }
    /// Whether lines are edited at the terminal.
    var editsLines = false
    /// The time after which a terminal shows what a slow connection waits for; nil: it never does.
    var patience: Duration? = .seconds(2)

    /// Opens a page in a browser; nil where there is none.
    var openPage: (@Sendable (String) async throws(Failure) -> Void)?

    /// Returns the bytes of a file that the command line names.
    ///
    /// - Parameter advice: what the file should be, for one that cannot be read.
    func file(_ path: String, advice: String) throws(Failure) -> [UInt8] {
        do throws(Failure) { return try input.file(path) } catch {
            throw error.hint == nil ? error.hinting(advice) : error
        }
    }

    /// Returns the recording in a file.
    func recording(_ path: String) throws(Failure) -> Recording {
        try Recording(
            file(path, advice: "mcp-client tap -o FILE TARGET makes a recording"), name: inlineText(path))
    }

    /// Writes a file next to the one given by `-o`.
    func saveFile(_ bytes: [UInt8], _ path: String) throws(Failure) {
        try (besideFile ?? outputFile)(path)(bytes)
    }

    static func process() -> CommandEnvironment {
        let stderr = DescriptorSink(2)
        let hasPerson = SystemFile.isTerminal(0) && stderr.isTerminal
        let secrets = SecretVariables()
        let reader = InputReader()
        return CommandEnvironment(
            stdout: DescriptorSink(1), stderr: stderr,
            input: ArgumentInput(
                file: { path throws(Failure) in try SystemFile.read(path) },
                secretFile: { path throws(Failure) in
                    try SystemFile.read(path, atMost: SystemFile.maxSecretBytes)
                },
                stdin: { () throws(Failure) in try StandardInput.readAll(notice: stderr) },
                isStdinPiped: SystemFile.isPipeOrFile(0)),
            variable: { SystemFile.variable($0) }, permissions: { SystemFile.permissions($0) },
            outputFile: { path throws(Failure) in
                let file = try OutputFile(path)
                return { bytes throws(Failure) in try file.write(bytes) }
            },
            besideFile: { path throws(Failure) in
                let file = try OutputFile(beside: path)
                return { bytes throws(Failure) in try file.write(bytes) }
            },
            secret: { secrets.value($0) },
            person: hasPerson
                ? Person(
                    waitForTerminal: reader.waitForTerminal, discardInput: reader.discard,
                    readOptionalLine: reader.optionalLine, readLine: reader.typedLine) : nil,
            connect: { target, flags, options in
                try await MCPClient.connect(target.clientTarget(flags), options: options)
            },
            allVariables: { Environment.all }, currentDirectory: Files.currentDirectory ?? "/",
            nextLine: { await reader.line() }, keyBytes: { await reader.read() },
            editsLines: hasPerson && SystemFile.variable("TERM") != "dumb")
    }
}
