import Synchronization

/// A provider of TLS 1.2 and 1.3 that uses the system's OpenSSL, loaded when the first https connection is
/// prepared.
///
/// It needs `libssl.so.3` and `libcrypto.so.3` (OpenSSL 3). A server's certificate must be issued by a
/// trusted issuer and be valid for the host of the URL; this check cannot be switched off. Apple platforms
/// have no system OpenSSL, so a program must supply its own `TLSProvider`.
public final class OpenSSLProvider: TLSProvider {
    /// The provider that trusts the certificates that the system trusts.
    public static let system = OpenSSLProvider()

    /// A file of certificates in PEM form that are trusted instead of those of the system.
    ///
    /// If nil, the certificates that the system or the environment variables `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR` specify are trusted.
    public let trustFile: String?

    #if canImport(Darwin)
    /// Creates a provider.
    ///
    /// - Parameter trustFile: see the property.
    public init(trustFile: String? = nil) { self.trustFile = trustFile }

    /// Always fails on this platform.
    /// - Throws: `TLSError` of the kind `.unavailable`.
    public func filter(for host: String) throws(TLSError) -> any TLSFilter { throw Self.nothingHere }

    /// Always fails on this platform.
    /// - Throws: `TLSError` of the kind `.unavailable`.
    public func prepare() throws(TLSError) { throw Self.nothingHere }

    private static let nothingHere = TLSError(
        .unavailable, "on this platform, https requires a TLSProvider supplied by the program",
        hint: "pass one to ClientTarget.http, or use http:// with a TLS proxy on this machine")
    #else
    private let names: OpenSSLLibrary.Names
    private let context = Mutex<OpenSSLContext?>(nil)

    /// Creates a provider.
    ///
    /// - Parameter trustFile: see the property.
    public convenience init(trustFile: String? = nil) {
        self.init(trustFile: trustFile, names: OpenSSLLibrary.Names())
    }

    init(trustFile: String? = nil, names: OpenSSLLibrary.Names) {
        self.trustFile = trustFile
        self.names = names
    }

    /// Loads OpenSSL and the trusted certificates, once.
    ///
    /// - Throws: `TLSError` of the kind `.unavailable` if a library is missing, or `.trust` if the trust file
    ///   cannot be read.
    public func prepare() throws(TLSError) { _ = try loaded() }

    /// Returns a filter for a connection to `host`.
    ///
    /// - Throws: `TLSError`, as `prepare()` does.
    public func filter(for host: String) throws(TLSError) -> any TLSFilter {
        try OpenSSLFilter(try loaded(), host: host)
    }

    private func loaded() throws(TLSError) -> OpenSSLContext {
        try context.withLock { (context) throws(TLSError) in
            if let context { return context }
            let new = try OpenSSLContext(try OpenSSLLibrary(names), trustFile: trustFile)
            context = new
            return new
        }
    }
    #endif
}
