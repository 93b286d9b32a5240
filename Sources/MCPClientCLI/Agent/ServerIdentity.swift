import MCPCore

/// What makes a server the one that a decision on its tools was made for: the name in the configuration, and
/// what it leads to. A server that starts with the same word, such as `python3` or `npx`, is another one.
struct ServerIdentity {
    /// A digest: the arguments of a program, its variables and a URL may contain secrets.
    let text: String

    /// - Parameters:
    ///   - invocation: the command line with the settings of this server.
    ///   - directory: the current directory, in which relative names are looked up.
    init(of target: Target, _ invocation: Invocation, in directory: String) {
        var parts: [JSONValue] = [invocation.configuredName.map(JSONValue.string) ?? .null]
        switch target {
        case .http(let url): parts += ["url", .string(url)]
        case .unix(let path, let endpoint):
            parts += ["unix", .string(ConfigPlace.absolute(path, in: directory)), .string(endpoint)]
        case .recording(let path):
            parts += ["recording", .string(ConfigPlace.absolute(path, in: directory))]
        case .program(let words):
            let options = invocation.options
            let place = options.directory.map { ConfigPlace.absolute($0, in: directory) } ?? directory
            // As the program gets them: of two values for a name, the last.
            let variables = Dictionary(
                options.environment.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
            parts += [
                "program", .array(words.map(JSONValue.string)), .string(place),
                .array(variables.map { "\($0.key)=\($0.value)" }.sorted().map(JSONValue.string)),
            ]
        }
        text = Hex.encode(SHA256.hash(JSONValue.array(parts).serialized().utf8).bytes)
    }
}
