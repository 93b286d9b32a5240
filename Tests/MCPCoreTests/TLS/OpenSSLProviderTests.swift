import TestSupport

#if !canImport(Darwin)
import Testing

@testable import MCPCore

/// The libraries themselves. What needs none runs everywhere.
@Suite struct OpenSSLProviderTests {
    @Test(
        arguments: [
            OpenSSLLibrary.Names(crypto: "libcrypto-that-is-missing.so.3"),
            OpenSSLLibrary.Names(crypto: "libc.so.6", ssl: "libssl-that-is-missing.so.3"),
        ])
    func aMissingLibraryIsNamed(_ names: OpenSSLLibrary.Names) async throws {
        let provider = OpenSSLProvider(names: names)
        let missing = names.crypto == "libc.so.6" ? names.ssl : names.crypto
        let error = try #require(
            await clientError {
                _ = try await MCPClient.connect(.http("https://localhost:1/mcp", tls: provider))
            })
        #expect(error.kind == .tls)
        #expect(
            error.message
                == "cannot connect to localhost:1: https requires OpenSSL 3, but \(missing) cannot be loaded")
        #expect(error.details.first?.contains(missing) == true)
        #expect(error.hint?.contains("libssl3") == true)
    }

    @Test func aLibraryOfAnotherKindIsNamed() {
        let provider = OpenSSLProvider(names: OpenSSLLibrary.Names(crypto: "libc.so.6", ssl: "libc.so.6"))
        let error = #expect(throws: TLSError.self) { try provider.prepare() }
        #expect(error?.kind == .unavailable)
        #expect(error?.message.hasPrefix("https requires OpenSSL 3, but libc.so.6 does not contain ") == true)
    }

    /// Plain http neither needs nor loads a library.
    @Test func plainHTTPNeedsNoLibrary() async throws {
        let peer = try HTTPPeer { .result($0, Script.discovered) }
        defer { peer.stop() }
        let provider = OpenSSLProvider(names: OpenSSLLibrary.Names(crypto: "missing", ssl: "missing"))
        let client = try await MCPClient.connect(
            .http("http://127.0.0.1:\(peer.port)/mcp", tls: provider).recorded())
        await client.close()
    }

    @Test(
        "without a network (needs libssl.so.3)",
        .enabled(if: TLSFront.isWanted, "libssl.so.3 is not installed"))
    func theFilterAlone() throws {
        // The root's dot belongs to the name in a URL, not to the one in a certificate.
        let filter = try Secured.tls.filter(for: "localhost.")
        #expect(try !filter.handshake())
        var hello = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe hello.withUnsafeMutableBytes { bytes in
            var room = unsafe bytes.mutableBytes
            return filter.takeOutput(into: &room)
        }
        // RFC 8446 5.1: a handshake record; RFC 6066 3: the name; RFC 7301: the protocol.
        #expect(hello.first == 0x16)
        let text = String(decoding: hello[..<count], as: UTF8.self)
        #expect(text.contains("localhost"))
        #expect(!text.contains("localhost."))
        #expect(text.contains("http/1.1"))
        // Nothing can be read or written before the handshake.
        var room = [UInt8](repeating: 0, count: 100)
        let read = try unsafe room.withUnsafeMutableBytes { bytes in
            var span = unsafe bytes.mutableBytes
            return try filter.read(into: &span)
        }
        #expect(read == nil)
        let written = try unsafe [UInt8]("GET".utf8).withUnsafeBytes { try filter.write(unsafe $0.bytes) }
        #expect(written == 0)
        // One byte at a time is as good as all.
        let bad: [UInt8] = Array("HTTP/1.1 400 Bad Request\r\n".utf8)
        let error = #expect(throws: TLSError.self) {
            for byte in bad {
                try unsafe [byte].withUnsafeBytes { try filter.receive(unsafe $0.bytes) }
                _ = try filter.handshake()
            }
        }
        #expect(error?.message == "the server does not use TLS")
    }
}
#endif
