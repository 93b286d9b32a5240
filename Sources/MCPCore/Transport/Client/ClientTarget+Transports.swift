extension ClientTarget {
    /// Starts a program and communicates over its stdin and stdout.
    ///
    /// - Parameters:
    ///   - program: a path if it contains a slash, otherwise looked up in `PATH`. No shell is involved.
    ///   - arguments: the program's arguments.
    ///   - environment: variables in addition to those of this process, or in place of them.
    ///   - directory: the directory in which the program starts; nil: the directory of this process.
    public static func command(
        _ program: String, _ arguments: String..., environment: [String: String] = [:],
        directory: String? = nil
    ) -> ClientTarget {
        command(program, arguments, environment: environment, directory: directory)
    }

    /// Starts a program and communicates over its stdin and stdout; accepts the arguments as an array.
    public static func command(
        _ program: String, _ arguments: [String], environment: [String: String] = [:],
        directory: String? = nil
    ) -> ClientTarget {
        ClientTarget(program) { (options) throws(ClientError) in
            var launch = ProcessLaunch(program, arguments, directory: directory)
            if !environment.isEmpty {
                launch.environment = Environment.all.merging(environment) { $1 }
            }
            return try StdioClientTransport(launch, options: options)
        }
    }

    /// Starts a program with exactly this environment.
    ///
    /// - Parameter supervisor: ends the program if this process ends first.
    package static func command(_ launch: ProcessLaunch, supervisor: ProcessSupervisor?) -> ClientTarget {
        ClientTarget(launch.program) { (options) throws(ClientError) in
            try StdioClientTransport(launch, options: options, supervisor: supervisor)
        }
    }

    /// Returns the target for a Streamable HTTP endpoint, for example `https://mcp.example.com/mcp`; the URL
    /// is used as given.
    ///
    /// - Parameters:
    ///   - url: `http://` or `https://`.
    ///   - tls: encrypts an `https://` URL: by default the system's OpenSSL, which is loaded when it is
    ///     needed. Use `OpenSSLProvider(trustFile:)` to specify a trust file.
    public static func http(
        _ url: String, tls: any TLSProvider = OpenSSLProvider.system
    ) -> ClientTarget {
        var target = ClientTarget(url) { (options) throws(ClientError) in
            try HTTPClientTransport(HTTPEndpoint(url: url), options: options, tls: tls)
        }
        target.url = url
        target.redirected = { error in
            (try? HTTPEndpoint(url: url))?.redirected(by: error).map { .http($0, tls: tls) }
        }
        return target
    }

    /// Returns the target for a Streamable HTTP endpoint behind a unix socket.
    ///
    /// - Parameters:
    ///   - path: the socket's path.
    ///   - endpoint: the path within the server.
    public static func unix(path: String, endpoint: String = "/mcp") -> ClientTarget {
        var target = ClientTarget("unix://\(path)") { (options) throws(ClientError) in
            try HTTPClientTransport(HTTPEndpoint(unixPath: path, target: endpoint), options: options)
        }
        target.url = endpoint
        return target
    }

    /// Returns the target for a server in this process: the same protocol without pipes and sockets.
    public static func inProcess(_ server: MCPServer) -> ClientTarget {
        ClientTarget(server.identity.name) { (_) throws(ClientError) in InProcessClientTransport(server) }
    }
}
