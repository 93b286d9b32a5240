/// What a TLS handshake agreed on.
package struct TLSAgreement: Sendable, Hashable {
    /// The version, such as `TLS 1.3`.
    package let version: String
    /// The last day on which the certificate of the server is valid, such as `2027-05-01`; nil if unknown.
    package let certificateEnds: String?
}

/// A provider that reports each completed handshake of another one.
package struct ObservedTLS: TLSProvider {
    private let provider: any TLSProvider
    private let onOpen: @Sendable (TLSAgreement?) -> Void

    /// - Parameter onOpen: receives the agreement; nil if the provider does not disclose it.
    package init(_ provider: any TLSProvider, onOpen: @escaping @Sendable (TLSAgreement?) -> Void) {
        (self.provider, self.onOpen) = (provider, onOpen)
    }

    package func prepare() throws(TLSError) { try provider.prepare() }

    package func filter(for host: String) throws(TLSError) -> any TLSFilter {
        ObservedFilter(try provider.filter(for: host), onOpen)
    }

    private final class ObservedFilter: TLSFilter {
        private let filter: any TLSFilter
        private let onOpen: @Sendable (TLSAgreement?) -> Void

        init(_ filter: any TLSFilter, _ onOpen: @escaping @Sendable (TLSAgreement?) -> Void) {
            (self.filter, self.onOpen) = (filter, onOpen)
        }

        func handshake() throws(TLSError) -> Bool {
            guard try filter.handshake() else { return false }
            #if canImport(Darwin)
            onOpen(nil)
            #else
            onOpen((filter as? OpenSSLFilter)?.agreement)
            #endif
            return true
        }

        func receive(_ bytes: RawSpan) throws(TLSError) { try filter.receive(bytes) }
        func read(into room: inout MutableRawSpan) throws(TLSError) -> Int? { try filter.read(into: &room) }
        func write(_ bytes: RawSpan) throws(TLSError) -> Int { try filter.write(bytes) }
        func takeOutput(into room: inout MutableRawSpan) -> Int { filter.takeOutput(into: &room) }
        func close() { filter.close() }
    }
}
