import MCPCore

#if os(macOS) && canImport(MCPFoundation)
import MCPFoundation
#endif

extension Target {
    func clientTarget(_ options: Options) -> ClientTarget {
        switch self {
        case .http(let url):
            Self.http(url, trusting: options.trustFile)
        case .unix(let path, let endpoint): .unix(path: path, endpoint: endpoint)
        case .recording(let path):
            .transport(path) {
                RecordedTransport(try Recording(SystemFile.read(path), name: inlineText(path)))
            }
        case .program(let words):
            .command(
                words.first ?? "", Array(words.dropFirst()),
                environment: Dictionary(
                    options.environment.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }),
                directory: options.directory)
        }
    }

    /// Returns the target for a URL. macOS has no OpenSSL: there, https is the platform's, with its trust.
    private static func http(_ url: String, trusting trustFile: String?) -> ClientTarget {
        #if os(macOS) && canImport(MCPFoundation)
        if trustFile == nil, url.lowercased().hasPrefix("https:") {
            return .http(url, carrier: URLSessionCarrier())
        }
        #endif
        return .http(url, tls: trustFile.map { OpenSSLProvider(trustFile: $0) } ?? OpenSSLProvider.system)
    }
}
