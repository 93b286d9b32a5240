#if !canImport(Darwin)
/// A TLS connection through OpenSSL, between two memory buffers (BIOs).
@safe final class OpenSSLFilter: TLSFilter {
    private static let controlServerName: Int32 = 55
    /// X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS, NEVER_CHECK_SUBJECT: RFC 9110 4.3.4 does not use the common
    /// name.
    private static let hostFlags: UInt32 = 0x04 | 0x20
    private static let wantRead: Int32 = 2
    private static let wantWrite: Int32 = 3
    private static let zeroReturn: Int32 = 6
    private static let certificateRefused = 134
    private static let maxPiece = Int(Int32.max)
    /// The maximum number of bytes from a peer without TLS that an error shows.
    private static let maxSaid = 80

    private let context: OpenSSLContext
    private let library: OpenSSLLibrary
    private let host: String
    private let ssl: OpaquePointer
    // Both are owned by `ssl`.
    private let received: OpaquePointer
    private let toSend: OpaquePointer
    private var isOpen = false
    /// The first bytes received, which show what protocol a peer uses instead of TLS.
    private var beginning: [UInt8] = []

    init(_ context: OpenSSLContext, host: String) throws(TLSError) {
        self.context = context
        // A host name may be written with a trailing dot for the root; a name in a certificate never has one.
        let host = host.hasSuffix(".") ? String(host.dropLast()) : host
        self.host = host
        let library = context.library
        self.library = library
        library.clearErrors()
        guard let ssl = unsafe library.sslNew(context.pointer) else { throw Self.noMemory }
        unsafe self.ssl = unsafe ssl
        guard let received = unsafe library.bioNew(library.memoryMethod()),
            let toSend = unsafe library.bioNew(library.memoryMethod())
        else {
            unsafe library.sslFree(ssl)
            throw Self.noMemory
        }
        unsafe self.received = unsafe received
        unsafe self.toSend = unsafe toSend
        unsafe library.sslSetBIO(ssl, received, toSend)
        unsafe library.sslSetConnecting(ssl)
        unsafe library.sslSetHostFlags(ssl, Self.hostFlags)
        let isBound: Bool
        if SocketAddress(numeric: host, port: 0) != nil {
            // SNI must not contain an address (RFC 6066 3).
            isBound = unsafe library.setAddress(library.sslParameters(ssl), host) == 1
        } else {
            let named = unsafe host.withCString { name in
                unsafe library.sslControl(
                    ssl, Self.controlServerName, 0, UnsafeMutableRawPointer(mutating: name))
            }
            isBound = unsafe named == 1 && library.sslSetHost(ssl, host) == 1
        }
        // Without a host to check against, any trusted certificate would be accepted.
        guard isBound else {
            throw TLSError(.handshake, "\(host) is not a valid name for a TLS server")
        }
    }

    deinit { unsafe library.sslFree(ssl) }

    private static let noMemory = TLSError(.unavailable, "OpenSSL cannot allocate memory for a connection")

    /// What the handshake agreed on; nil before its end.
    var agreement: TLSAgreement? {
        guard isOpen else { return nil }
        // OpenSSL writes TLSv1.3.
        let version = unsafe library.sslVersion(ssl).map { unsafe String(cString: $0) } ?? "TLS"
        let chain = unsafe library.sslVerifiedChain(ssl)
        let certificate = unsafe chain == nil ? nil : library.stackItem(chain, 0)
        return TLSAgreement(
            version: version.replacing("TLSv", with: "TLS "),
            certificateEnds: unsafe certificate.map { unsafe OpenSSLCertificate($0, library).ends })
    }

    // MARK: TLSFilter

    func handshake() throws(TLSError) -> Bool {
        library.clearErrors()
        let result = unsafe library.sslHandshake(ssl)
        if result == 1 {
            isOpen = true
            beginning = []
            return true
        }
        guard try mustWait(result) != nil else { return false }
        throw TLSError(.connection, "the server ended the TLS handshake", details: ["nothing was sent"])
    }

    func receive(_ bytes: RawSpan) throws(TLSError) {
        try unsafe bytes.withUnsafeBytes { (bytes) throws(TLSError) in
            if !isOpen, beginning.count < Self.maxSaid {
                unsafe beginning += bytes.prefix(Self.maxSaid - beginning.count)
            }
            var rest = unsafe bytes[...]
            while unsafe !rest.isEmpty {
                let piece = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(Self.maxPiece))
                let taken = unsafe library.bioWrite(received, piece.baseAddress, Int32(piece.count))
                guard taken > 0 else { throw Self.noMemory }
                unsafe rest = unsafe rest.dropFirst(Int(taken))
            }
        }
    }

    func read(into room: inout MutableRawSpan) throws(TLSError) -> Int? {
        library.clearErrors()
        let count = unsafe room.withUnsafeMutableBytes { room in
            unsafe library.sslRead(ssl, room.baseAddress, Int32(min(room.count, Self.maxPiece)))
        }
        if count > 0 { return Int(count) }
        return try mustWait(count)
    }

    func write(_ bytes: RawSpan) throws(TLSError) -> Int {
        library.clearErrors()
        let count = unsafe bytes.withUnsafeBytes { bytes in
            unsafe library.sslWrite(ssl, bytes.baseAddress, Int32(min(bytes.count, Self.maxPiece)))
        }
        if count > 0 { return Int(count) }
        // This also applies after the peer has ended its side, which reading reports.
        _ = try mustWait(count)
        return 0
    }

    func takeOutput(into room: inout MutableRawSpan) -> Int {
        let count = unsafe room.withUnsafeMutableBytes { room in
            unsafe library.bioRead(toSend, room.baseAddress, Int32(min(room.count, Self.maxPiece)))
        }
        return Int(max(count, 0))
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        library.clearErrors()
        _ = unsafe library.sslShutdown(ssl)
        library.clearErrors()
    }

    // MARK: Errors

    /// Interprets a call that produced nothing. Returns nil if the peer has to send more first, and 0 if it
    /// has ended its side.
    private func mustWait(_ result: Int32) throws(TLSError) -> Int? {
        switch unsafe library.sslError(ssl, result) {
        case Self.wantRead, Self.wantWrite: return nil
        case Self.zeroReturn: return 0
        default: throw failure(library.takeError())
        }
    }

    private func failure(_ error: (code: Int, text: String)?) -> TLSError {
        let text = error?.text ?? "the peer violated the protocol"
        if isOpen { return TLSError(.handshake, "TLS: \(text)") }
        if error?.code == Self.certificateRefused { return certificateError() }
        // A record begins with its type, 20 to 24 (RFC 8446 5.1).
        if let first = beginning.first, !(20 ... 24).contains(first) { return noTLS() }
        return TLSError(
            .handshake, "the TLS handshake failed: \(text)", details: ["nothing was sent"],
            hint: "this client supports TLS 1.2 and 1.3")
    }

    private func noTLS() -> TLSError {
        let line = beginning.prefix { $0 >= 0x20 && $0 < 0x7F }
        let said = line.isEmpty ? [] : ["it sent: \(String(decoding: line, as: UTF8.self))"]
        return TLSError(
            .handshake, "the server does not use TLS", details: said + ["nothing was sent"],
            hint: "use http:// if the server uses plain HTTP")
    }

    private func certificateError() -> TLSError {
        let result = unsafe library.sslVerifyResult(ssl)
        let reason =
            unsafe library.verifyText(result).map { unsafe String(cString: $0) } ?? "error \(result)"
        var chain: [OpenSSLCertificate] = []
        // `ssl` keeps the chain even if verification has failed.
        let stack = unsafe library.sslVerifiedChain(ssl)
        let count = unsafe stack == nil ? 0 : library.stackCount(stack)
        for index in 0 ..< max(0, min(count, 10)) {
            guard let certificate = unsafe library.stackItem(stack, index) else { continue }
            unsafe chain.append(OpenSSLCertificate(certificate, library))
        }
        return CertificateProblem(result: result, reason: reason, host: host, chain: chain).error
    }
}
#endif
