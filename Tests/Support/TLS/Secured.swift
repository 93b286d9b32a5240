import Dispatch
package import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What tests of https share.
package enum Secured {
    /// Trusts the authority of the tests and nobody else.
    package static let tls = OpenSSLProvider(trustFile: trustFile)

    package static let trustFile: String = {
        let path = "/tmp/mcp-tls-\(getpid()).pem"
        try? Files.replace(path, with: Array(TLSIdentity.authority.utf8))
        return path
    }()

    package static func target(_ url: String, tls: any TLSProvider = tls) -> ClientTarget {
        ClientTarget.http(url, tls: tls).recorded()
    }
}

extension HTTPPeer {
    package var port: UInt16 { UInt16(endpoint.split(separator: ":").last ?? "") ?? 0 }
}

/// Passes bytes between a client and a port, and decides for each piece from the server what becomes of it.
package final class Between: Sendable {
    package enum Verdict: Sendable {
        case pass([UInt8])
        /// Passes these and closes.
        case close([UInt8])
    }

    private let listener: BareListener
    package var port: UInt16 { listener.port }

    /// - Parameter judge: takes how many bytes were passed before, and the next ones.
    package init(to backend: UInt16, _ judge: @escaping @Sendable (Int, [UInt8]) -> Verdict) throws {
        listener = try BareListener { client in
            guard let server = BareListener.connect(backend) else { return }
            let isUp = DispatchSemaphore(value: 0)
            TestThread.run {
                while let bytes = Self.receive(client), Self.send(server, bytes) {}
                BlockingSocket.shutDown(server)
                isUp.signal()
            }
            var passed = 0
            loop: while let bytes = Self.receive(server) {
                switch judge(passed, bytes) {
                case .pass(let bytes):
                    guard Self.send(client, bytes) else { break loop }
                    passed += bytes.count
                case .close(let bytes):
                    _ = Self.send(client, bytes)
                    break loop
                }
            }
            BlockingSocket.shutDown(client)
            isUp.wait()
            BlockingSocket.close(server)
        }
    }

    package func stop() { listener.stop() }

    package static func receive(_ descriptor: Int32) -> [UInt8]? {
        BlockingSocket.receive(descriptor).flatMap { $0.isEmpty ? nil : $0 }
    }

    package static func send(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
        BlockingSocket.send(descriptor, bytes)
    }
}
