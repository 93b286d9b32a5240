import Synchronization

/// TLS 1.2 and 1.3 by the OpenSSL of the system, which is loaded when the first https connection is prepared.
///
/// It needs `libssl.so.3` and `libcrypto.so.3` (OpenSSL 3). The certificate of a server must be issued by
/// somebody who is trusted and be for the host of the URL; there is no way to switch that off. On Apple
/// platforms there is no OpenSSL of the system, and a program brings a `TLSProvider` of its own.
public final class OpenSSLProvider: TLSProvider {
    /// Trusts what the system trusts.
    public static let system = OpenSSLProvider()

    /// A file of certificates in PEM form that are trusted instead of those of the system; nil: those that
    /// the system, or the environment variables `SSL_CERT_FILE` and `SSL_CERT_DIR`, name.
    public let trustFile: String?

    #if canImport(Darwin)
    /// - Parameter trustFile: see the property.
    public init(trustFile: String? = nil) { self.trustFile = trustFile }

    /// Always fails on this platform.
    /// - Throws: `TLSError` of the kind `.unavailable`.
    public func filter(for host: String) throws(TLSError) -> any TLSFilter { throw Self.nothingHere }

    /// Always fails on this platform.
    /// - Throws: `TLSError` of the kind `.unavailable`.
    public func prepare() throws(TLSError) { throw Self.nothingHere }

    private static let nothingHere = TLSError(
        .unavailable, "https needs a TLSProvider of the program on this platform",
        hint: "give one to ClientTarget.http, or use http:// to a TLS proxy on this machine")
    #else
    private let names: OpenSSLLibrary.Names
    private let context = Mutex<OpenSSLContext?>(nil)

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
    /// - Throws: `TLSError` of the kind `.unavailable` when a library is missing, `.trust` when the trust
    ///   file cannot be read.
    public func prepare() throws(TLSError) { _ = try loaded() }

    /// A filter for a connection to `host`.
    ///
    /// - Throws: `TLSError` as `prepare()`.
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
