#if !canImport(Darwin)
import Synchronization

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Speaks TLS on 127.0.0.1 and passes what it hears to a port of a server without: what a reverse proxy does.
package final class TLSFront: Sendable {
    /// How it behaves.
    package struct Behaviour: Sendable {
        /// The only version that is spoken; nil for all.
        package var version: Version?
        /// The most bytes of an answer in one record.
        package var recordBytes = 16_384
        /// Ends connections without `close_notify`.
        package var cutsOff = false
        /// Changes its keys before each piece of an answer, and wants the client to do so too (TLS 1.3).
        package var updatesKeys = false
        /// Begins a new handshake behind the first piece of a request (TLS 1.2).
        package var renegotiates = false

        /// Behaves well.
        package init(_ version: Version? = nil) { self.version = version }
    }

    /// Versions of the protocol.
    package enum Version: Int, Sendable { case tls11 = 0x0302, tls12 = 0x0303, tls13 = 0x0304 }

    /// One handshake that succeeded.
    package struct Handshake: Sendable {
        /// The name that the client asked for.
        package let serverName: String?
        /// The version that was agreed on.
        package let version: String
        /// The protocol inside.
        package let application: String?
    }

    private struct State {
        var handshakes: [Handshake] = []
        var failed = 0
        var endedInOrder = 0
    }

    @safe private struct Context: @unchecked Sendable {
        // SAFETY: an SSL_CTX, which OpenSSL locks.
        let pointer: OpaquePointer?
    }

    /// Whether OpenSSL 3 is installed here.
    package static var isAvailable: Bool { ServerOpenSSL.shared != nil }
    /// In CI the tests run and fail where it is missing.
    package static var isWanted: Bool { unsafe isAvailable || getenv("CI") != nil }

    private let library: ServerOpenSSL
    private let context: Context
    private let behaviour: Behaviour
    private let backend: UInt16
    private let listener = Mutex<BareListener?>(nil)
    private let state = Mutex(State())

    /// - Parameters:
    ///   - identity: what it shows to clients.
    ///   - backend: the port that it passes everything to.
    package init(
        _ identity: TLSIdentity = .server, to backend: UInt16, _ behaviour: Behaviour = Behaviour()
    ) throws {
        guard let library = ServerOpenSSL.shared else { throw NothingThere() }
        self.library = library
        self.backend = backend
        self.behaviour = behaviour
        context = Self.context(library, identity, behaviour.version)
        let listener = try BareListener { [weak self] in self?.serve($0) }
        self.listener.withLock { $0 = listener }
    }

    deinit { unsafe library.contextFree(context.pointer) }

    /// Where it listens.
    package var port: UInt16 { listener.withLock { $0?.port } ?? 0 }
    /// The endpoint behind it.
    package var url: String { "https://localhost:\(port)/mcp" }
    /// Those that succeeded.
    package var handshakes: [Handshake] { state.withLock { $0.handshakes } }
    /// How many did not.
    package var failedHandshakes: Int { state.withLock { $0.failed } }
    /// Connections that the client ended by `close_notify`.
    package var endedInOrder: Int { state.withLock { $0.endedInOrder } }

    /// Ends all connections.
    package func stop() { listener.withLock { $0 }?.stop() }

    private static func context(
        _ library: ServerOpenSSL, _ identity: TLSIdentity, _ version: Version?
    ) -> Context {
        let context = unsafe library.contextNew(library.method())
        let certificate = unsafe read(identity.certificate, library, library.readCertificate)
        defer { unsafe library.freeCertificate(certificate) }
        let key = unsafe read(identity.key, library, library.readKey)
        defer { unsafe library.freeKey(key) }
        precondition(unsafe library.useCertificate(context, certificate) == 1)
        precondition(unsafe library.useKey(context, key) == 1)
        if let version {
            _ = unsafe library.contextControl(context, 123, version.rawValue, nil)
            _ = unsafe library.contextControl(context, 124, version.rawValue, nil)
        }
        // Without SSL_MODE_AUTO_RETRY a read returns behind a record that holds no data.
        _ = unsafe library.contextControl(context, 78, 4, nil)
        // The first protocol that the client names.
        unsafe library.setChoice(
            context,
            { _, chosen, count, offered, _, _ in
                guard let offered = unsafe offered else { return 3 }
                unsafe chosen?.pointee = unsafe offered + 1
                unsafe count?.pointee = unsafe offered.pointee
                return 0
            }, nil)
        return unsafe Context(pointer: context)
    }

    private static func read(
        _ text: String, _ library: ServerOpenSSL, _ read: ServerOpenSSL.ReadPEM
    ) -> OpaquePointer? {
        unsafe text.withCString {
            let memory = unsafe library.memory($0, -1)
            defer { _ = unsafe library.freeMemory(memory) }
            return unsafe read(memory, nil, nil, nil)
        }
    }

    // MARK: One connection

    private func serve(_ client: Int32) {
        guard let ssl = unsafe library.new(context.pointer) else { return }
        defer { unsafe library.free(ssl) }
        library.clearErrors()
        _ = unsafe library.setDescriptor(ssl, client)
        // A signal, such as that of the end of a child process, interrupts a handshake.
        var accepted: Int32
        repeat {
            errno = 0
            accepted = unsafe library.accept(ssl)
        } while accepted < 0 && errno == EINTR
        guard accepted == 1 else { return state.withLock { $0.failed += 1 } }
        unsafe note(ssl)
        guard let backend = BareListener.connect(backend) else { return }
        defer { BlockingSocket.close(backend) }
        var isFirst = true
        while true {
            let hasMore = unsafe library.pending(ssl) > 0
            var sockets = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: backend, events: Int16(POLLIN), revents: 0),
            ]
            if !hasMore, uninterrupted({ Int(unsafe poll(&sockets, 2, 20_000)) }) <= 0 { return }
            if hasMore || sockets[0].revents != 0 {
                guard unsafe passRequest(ssl, backend) else { return }
                if behaviour.renegotiates, isFirst {
                    _ = unsafe library.renegotiate(ssl)
                    _ = unsafe library.handshake(ssl)
                }
                isFirst = false
            }
            if sockets[1].revents != 0 {
                guard unsafe passAnswer(backend, ssl, client) else { return }
            }
        }
    }

    private func note(_ ssl: OpaquePointer) {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe library.chosen(ssl, &bytes, &count)
        let application = unsafe bytes.map {
            unsafe String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self)
        }
        let handshake = Handshake(
            serverName: unsafe library.serverName(ssl, 0).map { unsafe String(cString: $0) },
            version: unsafe library.version(ssl).map { unsafe String(cString: $0) } ?? "",
            application: application)
        state.withLock { $0.handshakes.append(handshake) }
    }

    /// False at the end.
    private func passRequest(_ ssl: OpaquePointer, _ backend: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        library.clearErrors()
        let count = unsafe library.read(ssl, &buffer, Int32(buffer.count))
        if count > 0 { return BlockingSocket.send(backend, buffer[..<Int(count)]) }
        switch unsafe library.error(ssl, count) {
        case 2, 3: return true
        case 6:
            state.withLock { $0.endedInOrder += 1 }
            return false
        default: return false
        }
    }

    private func passAnswer(_ backend: Int32, _ ssl: OpaquePointer, _ client: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = uninterrupted { unsafe recv(backend, &buffer, buffer.count, 0) }
        guard count > 0 else {
            if count < 0 {
                BareListener.reset(client)
            } else if !behaviour.cutsOff {
                _ = unsafe library.shutdown(ssl)
            }
            return false
        }
        var rest = buffer[..<count]
        while !rest.isEmpty {
            if behaviour.updatesKeys { _ = unsafe library.updateKey(ssl, 1) }
            let piece = Array(rest.prefix(behaviour.recordBytes))
            library.clearErrors()
            errno = 0
            let written = unsafe library.write(ssl, piece, Int32(piece.count))
            if written <= 0 {
                if errno == EINTR { continue }
                let mustRead = [2, 3].contains(unsafe library.error(ssl, written))
                guard mustRead, unsafe passRequest(ssl, backend) else { return false }
                continue
            }
            rest = rest.dropFirst(Int(written))
        }
        return true
    }
}
#endif
