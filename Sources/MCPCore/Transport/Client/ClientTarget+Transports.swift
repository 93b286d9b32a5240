extension ClientTarget {
    /// Starts a program and speaks over its stdin and stdout.
    ///
    /// - Parameters:
    ///   - program: a path if it holds a slash, otherwise looked up in `PATH`. No shell is involved.
    ///   - arguments: its arguments.
    ///   - environment: variables beside those of this process, or instead of them.
    ///   - directory: where it starts; nil: the directory of this process.
    public static func command(
        _ program: String, _ arguments: String..., environment: [String: String] = [:],
        directory: String? = nil
    ) -> ClientTarget {
        command(program, arguments, environment: environment, directory: directory)
    }

    /// Starts a program and speaks over its stdin and stdout; the arguments as an array.
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

    /// A Streamable HTTP endpoint, for example `https://mcp.example.com/mcp`; the URL is used as it is given.
    ///
    /// - Parameters:
    ///   - url: `http://` or `https://`.
    ///   - tls: encrypts an `https://` URL: the system's OpenSSL, which is loaded when it is needed. A trust
    ///     file is given by `OpenSSLProvider(trustFile:)`.
    public static func http(
        _ url: String, tls: any TLSProvider = OpenSSLProvider.system
    ) -> ClientTarget {
        ClientTarget(url) { (options) throws(ClientError) in
            try HTTPClientTransport(HTTPEndpoint(url: url), options: options, tls: tls)
        }
    }

    /// A Streamable HTTP endpoint behind a unix socket.
    ///
    /// - Parameters:
    ///   - path: the socket's path.
    ///   - endpoint: the path within the server.
    public static func unix(path: String, endpoint: String = "/mcp") -> ClientTarget {
        ClientTarget("unix://\(path)") { (options) throws(ClientError) in
            try HTTPClientTransport(HTTPEndpoint(unixPath: path, target: endpoint), options: options)
        }
    }

    /// A server in this process: the same protocol without pipes and sockets.
    public static func inProcess(_ server: MCPServer) -> ClientTarget {
        ClientTarget(server.identity.name) { (_) throws(ClientError) in InProcessClientTransport(server) }
    }
}
