#if !canImport(Darwin)
/// The state that all connections of a provider share: the versions and the trusted certificates.
@safe final class OpenSSLContext: @unchecked Sendable {
    // SAFETY: set once in `init`; OpenSSL counts references to an SSL_CTX and locks it.
    let pointer: OpaquePointer
    let library: OpenSSLLibrary

    private static let controlMode: Int32 = 33
    private static let controlMinimumVersion: Int32 = 123
    private static let tls12 = 0x0303
    /// SSL_MODE_ENABLE_PARTIAL_WRITE, ACCEPT_MOVING_WRITE_BUFFER, AUTO_RETRY, RELEASE_BUFFERS.
    private static let mode = 0x01 | 0x02 | 0x04 | 0x10
    /// SSL_OP_NO_COMPRESSION: the compressed size would reveal information about the plaintext.
    private static let options: UInt64 = 1 << 17
    private static let verifyPeer: Int32 = 1
    /// The protocol names, each preceded by its length (RFC 7301 3.1).
    private static let protocols: [UInt8] = [8] + Array("http/1.1".utf8)

    /// Creates a context.
    ///
    /// - Parameter trustFile: a file in PEM form; nil trusts the certificates that the system trusts.
    init(_ library: OpenSSLLibrary, trustFile: String?) throws(TLSError) {
        self.library = library
        library.clearErrors()
        guard let pointer = unsafe library.contextNew(library.clientMethod()) else {
            throw TLSError(
                .unavailable,
                "OpenSSL cannot create a context: \(library.takeError()?.text ?? "unknown reason")")
        }
        unsafe self.pointer = unsafe pointer
        _ = unsafe library.contextControl(pointer, Self.controlMode, Self.mode, nil)
        _ = unsafe library.contextSetOptions(pointer, Self.options)
        unsafe library.contextSetVerify(pointer, Self.verifyPeer, nil)
        let hasMinimum = unsafe library.contextControl(pointer, Self.controlMinimumVersion, Self.tls12, nil)
        let hasProtocols = unsafe library.contextSetProtocols(
            pointer, Self.protocols, UInt32(Self.protocols.count))
        guard hasMinimum == 1, hasProtocols == 0 else {
            throw TLSError(
                .unavailable,
                "OpenSSL rejected the settings: \(library.takeError()?.text ?? "unknown reason")")
        }
        if let trustFile {
            // OpenSSL would wait for a writer.
            if let reason = Files.whyNotReadable(trustFile) { throw Self.unreadable(trustFile, reason) }
            guard unsafe library.contextLoadTrust(pointer, trustFile, nil) == 1 else {
                library.clearErrors()
                throw Self.unreadable(trustFile)
            }
        } else {
            // Uses SSL_CERT_FILE and SSL_CERT_DIR, or the folder of the system. Without any of them, no
            // server is trusted and the handshake reports the error.
            // An empty file, for SSL_CERT_DIR alone, is usual.
            if let file = Environment.value("SSL_CERT_FILE"), file != "/dev/null",
                let reason = Files.whyNotReadable(file)
            {
                throw TLSError(
                    .trust, "the file \(file) of SSL_CERT_FILE cannot be read: \(reason)",
                    hint: "SSL_CERT_FILE names a file with certificates (PEM)")
            }
            _ = unsafe library.contextDefaultTrust(pointer)
        }
        library.clearErrors()
    }

    deinit { unsafe library.contextFree(pointer) }

    private static let maxTrustBytes = 64 << 20

    private static func unreadable(_ file: String, _ reason: String) -> TLSError {
        TLSError(.trust, "the trust file \(file) cannot be read: \(reason)")
    }

    private static func unreadable(_ file: String) -> TLSError {
        do {
            // A pipe has been read.
            if !Files.isInherited(file) { _ = try Files.read(file, maxBytes: maxTrustBytes) }
        } catch {
            return unreadable(file, error.reason)
        }
        return TLSError(
            .trust, "the trust file \(file) contains no certificate",
            hint: "it must be in PEM form: -----BEGIN CERTIFICATE-----")
    }
}
#endif
