import MCPCore
import Synchronization

/// `provide`: offers tools in a channel of a daemon, until it is stopped.
struct ProvideCommand {
    let environment: CommandEnvironment
    let console: Console
    let invocation: Invocation
    private var options: Options { invocation.options }

    func run() async throws(Failure) {
        let text = invocation.operands.first ?? ""
        guard let address = ProviderAddress(text) else {
            throw .usage(
                "\(quoted(text)) is no daemon", hint: "http://HOST:PORT, HOST:PORT or the path of a socket")
        }
        let provider = try provider(at: address)
        do {
            try await provider.run()
        } catch {
            throw FailureMapping.failure(error, method: nil, subject: "provide", invocation: invocation)
        }
    }

    private func provider(at address: ProviderAddress) throws(Failure) -> ClientToolProvider {
        let clientID = options.clientID ?? "mcp-client-\(SystemFile.processID)"
        // Read at each attempt: a daemon that starts again may have a new one.
        let file = options.tokenFile
        let input = environment.input
        let token: @Sendable () -> String? = {
            guard let file, let bytes = try? input.file(file) else { return nil }
            return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).first.map(
                String.init)
        }
        if let file { _ = try input.file(file) }
        let console = console
        let channel = options.channel
        // Said once: the attempts go on.
        let isHinted = Atomic<Bool>(false)
        let tell: @Sendable (ClientToolProvider.Event) -> Void = { event in
            switch event {
            case .connected: console.note("offering tools in \(inlineText(channel)) of \(address)")
            case .disconnected(let error, let pause):
                console.note(
                    "\(inlineText(error.message)); trying again in \(pause.formatted)")
                if error.kind == .cannotConnect, !isHinted.exchange(true, ordering: .relaxed) {
                    console.note("hint: is the daemon running, and was it started with --client-tools?")
                }
            }
        }
        switch (invocation.program, options.demoTools.isEmpty) {
        case (let program?, true):
            return ClientToolProvider(
                program: program[0], arguments: Array(program.dropFirst()), channel: channel,
                clientID: clientID, address: address, token: token, onEvent: tell)
        case (nil, false):
            return ClientToolProvider(
                server: DemoTools.server(options.demoTools, console), channel: channel, clientID: clientID,
                address: address, token: token, onEvent: tell)
        case (nil, true):
            throw .usage(
                "provide needs tools", hint: "--tool NAME, or an MCP server at the end: -- PROGRAM ARGS")
        case (_?, false):
            throw .usage("--tool and a program after -- exclude each other")
        }
    }
}

extension Duration {
    /// In tenths of a second.
    fileprivate var formatted: String {
        let tenths = components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
