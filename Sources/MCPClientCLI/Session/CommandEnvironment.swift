import MCPCore

/// Writes a file as a whole.
typealias FileWriter = @Sendable ([UInt8]) throws(Failure) -> Void

/// What a command touches outside itself. Tests bring their own.
struct CommandEnvironment: Sendable {
    var stdout: any Sink
    var stderr: any Sink
    var input: ArgumentInput
    /// A variable of the process environment.
    var variable: @Sendable (String) -> String?
    /// Looks at the place of a file before anything is sent, and returns what writes it.
    var outputFile: @Sendable (String) throws(Failure) -> FileWriter
    /// A variable that holds a secret: programs that are started do not inherit it.
    var secret: @Sendable (String) -> String?
    /// Nil when nobody is there.
    var person: Person?
    var connect: @Sendable (Target, Options, ClientOptions) async throws -> MCPClient

    /// Writes a file beside the one of `-o`.
    func saveFile(_ bytes: [UInt8], _ path: String) throws(Failure) { try outputFile(path)(bytes) }

    static func process() -> CommandEnvironment {
        let stderr = DescriptorSink(2)
        let hasPerson = SystemFile.isTerminal(0) && stderr.isTerminal
        let secrets = SecretVariables()
        return CommandEnvironment(
            stdout: DescriptorSink(1), stderr: stderr,
            input: ArgumentInput(
                file: { path throws(Failure) in try SystemFile.read(path) },
                stdin: { () throws(Failure) in try StandardInput.readAll(notice: stderr) },
                isStdinPiped: SystemFile.isPipeOrFile(0)),
            variable: { SystemFile.variable($0) },
            outputFile: { path throws(Failure) in
                let file = try OutputFile(path)
                return { bytes throws(Failure) in try file.write(bytes) }
            },
            secret: { secrets.value($0) },
            person: hasPerson
                ? Person(discardInput: StandardInput.discard, readLine: StandardInput.readLine) : nil,
            connect: { target, flags, options in
                try await MCPClient.connect(target.clientTarget(flags), options: options)
            })
    }
}
