/// What keeps a client from ever reaching a server, known without trying.
///
/// The texts go behind the name of a member, and have no part of the URL, which may contain a secret.
package enum ServerAddress {
    /// Returns what is wrong with a URL that begins with `http://` or `https://`; nil if a server may be there.
    package static func problem(ofURL url: String) -> String? {
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        if url[start...].prefix(while: { $0 != "/" && $0 != "?" && $0 != "#" }).contains("@") {
            return " must not have a user name or a password: send credentials in \"headers\""
        }
        do throws(ClientError) { _ = try HTTPEndpoint(url: url) } catch {
            return " must have a HOST or HOST:PORT, with a port from 1 to 65535"
        }
        return nil
    }

    /// Returns what is wrong with an endpoint behind a unix socket; nil if a server may be there.
    package static func problem(ofSocket path: String, endpoint: String) -> String? {
        if SocketAddress(unixPath: path) == nil {
            return " must have a path of at most \(SocketAddress.maxUnixPathBytes) bytes"
        }
        do throws(ClientError) { _ = try HTTPEndpoint(unixPath: path, target: endpoint) } catch {
            return " must have a path behind #, such as /mcp, with other characters percent-encoded"
        }
        return nil
    }

    /// Whether the client writes a header field itself, so that no other value can be sent.
    package static func isReservedField(_ name: String) -> Bool {
        HTTPClientFields.isReserved(name.lowercased())
    }
}
