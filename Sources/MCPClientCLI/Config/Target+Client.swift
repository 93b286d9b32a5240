import MCPCore

extension Target {
    func clientTarget(_ options: Options) -> ClientTarget {
        switch self {
        case .http(let url):
            .http(
                url, tls: options.trustFile.map { OpenSSLProvider(trustFile: $0) } ?? OpenSSLProvider.system)
        case .unix(let path, let endpoint): .unix(path: path, endpoint: endpoint)
        case .program(let words):
            .command(
                words.first ?? "", Array(words.dropFirst()),
                environment: Dictionary(
                    options.environment.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }),
                directory: options.directory)
        }
    }
}
