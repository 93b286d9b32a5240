import MCPCore

/// What a command touches outside itself. Tests bring their own.
struct CommandEnvironment: Sendable {
    var stdout: any Sink
    var stderr: any Sink
    var input: ArgumentInput
    /// A variable of the process environment.
    var variable: @Sendable (String) -> String?
    var saveFile: @Sendable ([UInt8], String) throws(Failure) -> Void
    /// Asked before anything is sent.
    var checkWritable: @Sendable (String) throws(Failure) -> Void
    /// A variable that holds a secret: programs that are started do not inherit it.
    var secret: @Sendable (String) -> String?
    /// Nil when nobody is there.
    var person: Person?
    var connect: @Sendable (Target, Options, ClientOptions) async throws -> MCPClient

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
            saveFile: { bytes, path throws(Failure) in try SystemFile.write(bytes, to: path) },
            checkWritable: { path throws(Failure) in try SystemFile.checkWritable(path) },
            secret: { secrets.value($0) },
            person: hasPerson
                ? Person(discardInput: StandardInput.discard, readLine: StandardInput.readLine) : nil,
            connect: { target, flags, options in
                try await MCPClient.connect(target.clientTarget(flags), options: options)
            })
    }
}
