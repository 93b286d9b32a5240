import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// One request to the address for operators of a running server.
struct AdminClient {
    /// The time for a request: that of a reload of a large configuration.
    static let timeout = Duration.seconds(30)
    /// The bytes of an answer that are read.
    static let maxBytes = 16 << 20

    struct Answer {
        var status: Int
        var body: [UInt8]
    }

    /// The reason why there is no answer, and what to do.
    struct Failure: Error {
        var text: String
        var hint: String
    }

    let address: ConfiguredAddress

    /// Sends a request and waits for the answer; blocks.
    func send(_ method: String, _ target: String) throws(Failure) -> Answer {
        let socket = try connect()
        defer { close(socket) }
        let request =
            "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + "Content-Length: 0\r\n\r\n"
        try write(Array(request.utf8), to: socket)
        return try Self.parse(try read(from: socket))
    }

    private func connect() throws(Failure) -> Int32 {
        let number: Int32
        let status: Int32
        switch address {
        case .unix(let path, _, _):
            number = socket(AF_UNIX, streamType, 0)
            var target = sockaddr_un()
            target.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &target.sun_path) { room in
                unsafe room.copyBytes(from: path.utf8.prefix(room.count - 1))
            }
            status = unsafe withUnsafePointer(to: &target) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connectTo(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        case .tcp:
            throw Failure(
                text: "\(address.shown) serves health and metrics only",
                hint: "set admin.listen to a unix socket to control the server")
        }
        guard number >= 0, status == 0 else {
            let reason = errno
            if number >= 0 { close(number) }
            throw Self.failure(reason, address.shown)
        }
        var time = timeval(tv_sec: 30, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(
                number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        return number
    }

    private func connectTo(_ number: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
        #if canImport(Darwin)
        unsafe Darwin.connect(number, address, size)
        #elseif canImport(Musl)
        unsafe Musl.connect(number, address, size)
        #else
        unsafe Glibc.connect(number, address, size)
        #endif
    }

    private static func failure(_ number: Int32, _ shown: String) -> Failure {
        switch number {
        case ENOENT, ECONNREFUSED:
            Failure(
                text: "no server is running at \(shown)",
                hint: "start it with \"admin\" in its configuration, and name that file with -c")
        case EACCES, EPERM:
            Failure(
                text: "\(shown) belongs to another user",
                hint: "run the command as the user of the server, or as root")
        default:
            Failure(
                text: "cannot connect to \(shown): \(IOError(errno: number, function: "connect").reason)",
                hint: "mcp-server check shows whether the address is right")
        }
    }

    private func write(_ bytes: [UInt8], to socket: Int32) throws(Failure) {
        let sent = unsafe bytes.withUnsafeBytes {
            unsafe systemSend(socket, $0.baseAddress, $0.count, noSignal)
        }
        guard sent == bytes.count else {
            throw Failure(text: "the server closed the connection", hint: "look at its log")
        }
    }

    private func read(from socket: Int32) throws(Failure) -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while all.count < Self.maxBytes {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(socket, $0.baseAddress, $0.count, 0)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw Failure(
                    text: "the server does not answer within 30 s",
                    hint: "mcp-server status shows whether it is stuck")
            }
            if count == 0 { return all }
            all += buffer[..<count]
        }
        return all
    }

    private static func parse(_ bytes: [UInt8]) throws(Failure) -> Answer {
        let separator = Array("\r\n\r\n".utf8)
        let parts = String(decoding: bytes.prefix(15), as: UTF8.self).split(separator: " ")
        guard parts.count > 1, parts[0].hasPrefix("HTTP/1."), let status = Int(parts[1].prefix(3)),
            let end = bytes.firstRange(of: separator)?.upperBound
        else {
            throw Failure(
                text: "the answer is not that of a server's address for operators",
                hint: "compare admin.listen with the address that the server prints at its start")
        }
        return Answer(status: status, body: Array(bytes[end...]))
    }
}

/// Calls `send` of the C library, which the method of the client hides.
private func systemSend(_ number: Int32, _ base: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    unsafe send(number, base, count, flags)
}

#if canImport(Darwin)
private let streamType = SOCK_STREAM
private let noSignal: Int32 = 0
#elseif canImport(Musl)
private let streamType = SOCK_STREAM
private let noSignal = Int32(MSG_NOSIGNAL)
#else
private var streamType: Int32 { Int32(SOCK_STREAM.rawValue) }
private var noSignal: Int32 { Int32(MSG_NOSIGNAL) }
#endif
