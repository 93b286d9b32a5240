import Dispatch

/// A look at the addresses of a server, for diagnosis.
package enum HostLookup {
    /// Returns the addresses of the host of a URL; nil if the URL has a numeric address itself.
    ///
    /// The resolver of the system decides how long it takes.
    ///
    /// - Throws: `ClientError` of the kind `.invalidRequest` for a URL that cannot be requested, and of the
    ///   kind `.cannotConnect` for a name without addresses.
    package static func addresses(ofURL url: String) async throws(ClientError) -> [String]? {
        guard case .host(let host, let port) = try HTTPEndpoint(url: url).place,
            SocketAddress(numeric: host, port: port) == nil
        else { return nil }
        let found = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { () throws(SocketAddress.ResolveError) in
                        try SocketAddress.resolve(host: host, port: port)
                    })
            }
        }
        do throws(SocketAddress.ResolveError) { return try found.get().map(\.host) } catch {
            throw ClientError(.cannotConnect, "\(error)", hint: "is the name of the host right?")
        }
    }
}
