import MCPCore

/// An HTTP server of a command, on an address of this machine, until the command is stopped.
enum LocalServer {
    /// Serves and prints the address of the endpoint.
    ///
    /// - Parameter address: HOST:PORT or PORT; port 0 selects a free one. Only loopback addresses are
    /// accepted.
    static func run(
        _ address: String, _ handler: some HTTPRequestHandler, _ context: CommandContext,
        endpoint: String = "/mcp"
    ) async throws(Failure) {
        let (host, port) = try parse(address)
        let server: HTTPServer
        do {
            var resources = HTTPServerResources()
            // The time of a call is limited by those who call and those who answer.
            resources.requestTimeout = .seconds(3600)
            resources.maxOutputBytes = 64 << 20
            server = try HTTPServer(
                on: [.tcp(host: host, port: port)], policy: AccessPolicy(hosts: .loopback), options: options,
                resources: resources)
            try server.start(handler)
        } catch {
            throw Failure(
                code: .unreachable, kind: .cannotStart,
                message: "cannot listen on \(inlineText(address)): \(inlineText("\(error)"))",
                hint: "--listen 127.0.0.1:0 takes a free port")
        }
        let name = host.contains(":") ? "[\(host)]" : host
        let url = "http://\(name):\(server.addresses.first?.port ?? port)\(endpoint)"
        if context.console.isJSON {
            context.console.json(RawJSON(["url": .string(url)]))
        } else {
            context.console.line(url)
        }
        if context.console.stdout.isClosed {
            await server.stop()
            // Otherwise the failure of stdout is reported at the end.
            guard context.console.stdout.failure == nil else { return }
            throw Failure(
                code: .unreachable, kind: .output,
                message: "nobody reads stdout, where the address of the server stands")
        }
        // Ends when the task is cancelled: by a signal, or at the deadline.
        while (try? await Task.sleep(for: .seconds(3600))) != nil {}
        await server.stop()
        if let failure = context.stop.failure { throw failure }
    }

    /// There are no tokens, and a tap sends credentials of its user: where the system tells whose process a
    /// client is, others are refused.
    static var options: HTTPServerOptions {
        var options = HTTPServerOptions()
        options.loops = 1
        options.drainTimeout = .milliseconds(200)
        options.limits.maxBodyBytes = 64 << 20
        options.users = UserPolicy.isEnforceable ? .own : .any
        return options
    }

    private static func parse(_ address: String) throws(Failure) -> (host: String, port: UInt16) {
        let parts = address.split(separator: ":", omittingEmptySubsequences: false)
        let port = UInt16(parts.last ?? "")
        var host = parts.count == 1 ? "127.0.0.1" : parts.dropLast().joined(separator: ":")
        if host == "localhost" { host = "127.0.0.1" }
        if host == "[::1]" { host = "::1" }
        if port == nil, let digits = parts.last, !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit) {
            throw .usage("--listen \(quoted(address)): port \(digits) is outside 0…65535")
        }
        guard let port, host == "::1" || host.hasPrefix("127.") else {
            throw .usage(
                "--listen \(quoted(address)) is not an address of this machine",
                details: ["there are no tokens here: only processes of this machine may connect"],
                hint: "--listen 127.0.0.1:3001, or 0 for a free port")
        }
        return (host, port)
    }
}
