import Dispatch
import MCPCore
import Synchronization
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// `mcp-server --demo` on a port of the loopback address.
final class HTTPDaemon: Sendable {
    private let child: ChildProcess
    private let log = Mutex<[UInt8]>([])
    let port: UInt16

    var pid: Int32 { child.pid }

    /// The one that tests share when they need none of their own; it ends with the tests.
    static func shared() throws -> HTTPDaemon { try common.get() }

    private static let common: Result<HTTPDaemon, any Error> = {
        let outcome = Result { try HTTPDaemon() }
        if case .success = outcome { ChildProcess.keepOne() }
        atexit { if case .success(let daemon) = HTTPDaemon.common { daemon.child.signal(SIGKILL) } }
        return outcome
    }()

    /// - Parameter words: another program that becomes the daemon, with its arguments.
    init(_ arguments: [String] = [], through words: [String] = []) throws {
        var launch = ServerProgram.launch(["--demo", "--listen", "127.0.0.1:0"] + arguments, through: words)
        launch.input = .null
        launch.output = .null
        child = try ChildProcess(launch, queue: DispatchQueue(label: "mcp.test.child"))
        guard let errors = child.takeErrors() else { throw FaultTestError("no pipe to standard error") }
        port = try Self.portOfBanner(errors.rawValue)
        let descriptor = errors.release()
        DispatchQueue(label: "mcp.test.log").async { [weak self] in
            Self.drain(descriptor) { self?.note($0) }
        }
    }

    deinit { child.signal(SIGKILL) }

    var isRunning: Bool { child.status == nil }

    /// How it has ended; nil while it runs.
    var end: ProcessExit? { child.status }

    /// What the daemon wrote to standard error after its banner.
    var errors: String { String(decoding: log.withLock { $0 }, as: UTF8.self) }

    private func note(_ bytes: [UInt8]) { log.withLock { if $0.count < 1 << 20 { $0 += bytes } } }

    func connect() throws -> WireConnection { try WireConnection(port: port) }

    /// Sends one request on a connection of its own.
    func ask(_ post: Post) throws -> WireResponse { try connect().ask(post) }

    /// A session of a handshake revision; returns its id.
    func openSession(_ version: String) throws -> String {
        let response = try ask(Post(Message.initialize(version), method: nil))
        guard response.status == 200, let id = response["mcp-session-id"] else {
            throw FaultTestError("no session: \(response)")
        }
        return id
    }

    /// A valid request on a new connection is answered.
    func expectAlive(_ location: SourceLocation = #_sourceLocation) throws {
        try connect().expectAlive(location)
        #expect(isRunning, sourceLocation: location)
    }

    /// How many descriptors the daemon has; nil where `/proc` is not there.
    var descriptorCount: Int? { descriptors?.count }

    /// What they are, but for those that watch others: Dispatch makes its own when it first has to wait for something.
    var descriptors: [String]? {
        ServerProgram.descriptors(of: pid)?.filter { !$0.hasPrefix("anon_inode:[event") }
    }

    // MARK: Starting

    private static func portOfBanner(_ descriptor: Int32) throws -> UInt16 {
        let deadline = Deadline(.seconds(30))
        var bytes: [UInt8] = []
        while true {
            _ = try deadline.wait(for: [(descriptor, Int32(POLLIN))])
            let piece = try readOnce(descriptor)
            bytes += piece ?? []
            let text = String(decoding: bytes, as: UTF8.self)
            if piece?.isEmpty == true { throw FaultTestError("the daemon does not start: \(text)") }
            guard text.contains("ready in"), let place = text.firstRange(of: "127.0.0.1:") else { continue }
            guard let port = UInt16(text[place.upperBound...].prefix { $0.isNumber }) else {
                throw FaultTestError("no port: \(text)")
            }
            return port
        }
    }

    private static func drain(_ descriptor: Int32, _ note: ([UInt8]) -> Void) {
        let pipe = FileDescriptor(owning: descriptor)
        while let piece = try? readOnce(pipe.rawValue, 256 << 10), !piece.isEmpty { note(piece) }
    }
}
