/// Checks that need to know what a command connects to.
enum InvocationCheck {
    /// Refuses to replace a file that the command reads.
    ///
    /// - Parameter servers: the words for servers that files of the command name.
    static func output(
        _ path: String, of flag: String, _ invocation: Invocation, _ environment: CommandEnvironment,
        servers: [String] = []
    ) throws(Failure) {
        let files = invocation.filesRead(environment, servers: servers)
        guard SystemFile.isInput(path, or: files) else { return }
        throw .usage(
            "\(flag) \(inlineText(path)) would replace what \(invocation.command.name) reads",
            details: ["nothing was sent"], hint: "name another file")
    }

    /// Refuses flags that mean nothing for this kind of target.
    static func transport(_ invocation: Invocation) throws(Failure) {
        let isProgram: Bool
        switch invocation.target {
        case nil: return
        case .program: isProgram = true
        case .http, .unix, .recording: isProgram = false
        }
        for case .transport(let flag) in invocation.options.given {
            switch flag {
            case .header, .bearerEnv, .bearerFile:
                if isProgram {
                    throw .usage("\(Flag.transport(flag).name) is for HTTP targets, not for a program")
                }
            case .trustFile:
                // A login is also for the authorization server of a server on this machine.
                if invocation.target?.isSecure != true, !invocation.command.isForHTTP {
                    throw .usage(
                        "--cacert is for https targets", hint: "TARGET must be https://HOST:PORT/PATH")
                }
            case .environment, .directory:
                if !isProgram {
                    throw .usage("\(Flag.transport(flag).name) is for a program after --, not for HTTP")
                }
            case .protocolVersion, .timeout, .deadline, .connectTimeout, .noCache: break
            }
        }
    }
}
