import Synchronization

@testable package import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A blocking connection to this machine. Nothing waits longer than 20 seconds.
package final class WireSocket: Sendable {
    private let descriptor: FileDescriptor

    /// Checks what comes back; nil where somebody else does.
    fileprivate let recorder: MessageRecorder?
    private let sent = Mutex<[UInt8]>([])

    package convenience init(port: UInt16, isRecorded: Bool = true) throws {
        guard let address = SocketAddress(numeric: "127.0.0.1", port: port) else { throw NothingThere() }
        try self.init(address, isRecorded: isRecorded)
    }

    /// A unix socket; what comes back is not checked.
    package convenience init(path: String) throws {
        guard let address = SocketAddress(unixPath: path) else { throw NothingThere() }
        try self.init(address, isRecorded: false)
    }

    private init(_ address: SocketAddress, isRecorded: Bool) throws {
        // A message without a claim, and without a handshake on this connection, belongs to an older session.
        recorder = isRecorded ? MessageRecorder([.server], version: "2025-11-25") : nil
        SignalWatch.ignoreBrokenPipes()
        descriptor = try Syscalls.streamSocket(address.domain)
        let flags = fcntl(descriptor.rawValue, F_GETFL)
        _ = fcntl(descriptor.rawValue, F_SETFL, flags & ~O_NONBLOCK)
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            _ = unsafe setsockopt(
                descriptor.rawValue, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        _ = try Syscalls.connect(descriptor.rawValue, to: address)
    }

    package func send(_ text: String) { send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) { _ = trySend(bytes) }

    /// False when the other side has closed, or takes nothing for 20 seconds.
    package func trySend(_ bytes: [UInt8]) -> Bool {
        if recorder != nil { sent.withLock { $0 += bytes } }
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = uninterrupted {
                unsafe rest.withUnsafeBytes {
                    unsafe sendBytes(descriptor.rawValue, $0.baseAddress, $0.count)
                }
            }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    /// The JSON bodies of what was sent since the last time.
    fileprivate func takeBodies() -> [String] {
        let text = sent.withLock { sent in
            defer { sent = [] }
            return String(decoding: sent, as: UTF8.self)
        }
        return text.split(separator: "\r\n\r\n").dropFirst().map { part in
            let end = ["POST /", "GET /", "DELETE /"].compactMap { part.firstRange(of: $0)?.lowerBound }.min()
            return String(part[..<(end ?? part.endIndex)])
        }
    }

    /// Nil at the end, after an error or a time-out.
    package func receive() -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = uninterrupted {
            unsafe piece.withUnsafeMutableBytes {
                unsafe recv(descriptor.rawValue, $0.baseAddress, $0.count, 0)
            }
        }
        return count > 0 ? Array(piece.prefix(count)) : nil
    }

    /// Ends both directions; the descriptor itself closes when nobody uses it any more.
    package func shutdown() { shutDownBoth(descriptor.rawValue) }

    /// Lets the connection break off, once the socket is let go of.
    package func breakOff() {
        var limit = linger()
        limit.l_onoff = 1
        _ = unsafe setsockopt(
            descriptor.rawValue, SOL_SOCKET, SO_LINGER, &limit, socklen_t(MemoryLayout<linger>.size))
    }

    /// Says that nothing more will be sent.
    package func finishWriting() { try? Syscalls.shutdownWriting(descriptor.rawValue) }
}

// Inside the class their own names mean its members.
private func sendBytes(_ fd: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe send(fd, bytes, count, 0)
}

private func shutDownBoth(_ fd: Int32) { _ = shutdown(fd, Int32(SHUT_RDWR)) }

/// An HTTP response, taken apart by hand.
package struct WireResponse: Sendable {
    package var status = 0
    /// Names in lower case; a repeated field keeps its last value.
    package var headers: [String: String] = [:]
    package var body = ""
    /// The data of each server-sent event, comments left out.
    package var events: [String] = []
    /// Each server-sent event as it came, also those without data.
    package var frames: [String] = []

    package init(status: Int = 0) { self.status = status }

    package var isEventStream: Bool { headers["content-type"]?.hasPrefix("text/event-stream") == true }
    package var json: RawJSON? { try? RawJSON(validating: body) }
}

/// Reads responses from one connection, one after the other.
package struct WireReader {
    private let socket: WireSocket
    private var buffer: [UInt8] = []

    package init(_ socket: WireSocket) { self.socket = socket }

    /// The next response, or nil when the connection ends before it is complete.
    package mutating func response(onEvent: (String) -> Void = { _ in }) -> WireResponse? {
        guard let recorder = socket.recorder else { return read(onEvent: onEvent) }
        for body in socket.takeBodies() { recorder.saw(body, from: .client) }
        let response = read { event in
            recorder.saw(event, from: .server)
            onEvent(event)
        }
        if let response, response.headers["content-type"] == "application/json" {
            recorder.saw(response.body, from: .server)
        }
        return response
    }

    private mutating func read(onEvent: (String) -> Void) -> WireResponse? {
        guard let head = take(through: "\r\n\r\n") else { return nil }
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)
        guard let first = lines.first?.split(separator: " "), first.count >= 2, let status = Int(first[1])
        else { return nil }
        var response = WireResponse(status: status)
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            response.headers[line[..<colon].lowercased()] = String(value)
        }
        return readBody(of: &response, onEvent) ? response : nil
    }

    private mutating func readBody(of response: inout WireResponse, _ onEvent: (String) -> Void) -> Bool {
        if response.headers["transfer-encoding"] == "chunked" {
            var text: [UInt8] = []
            while let line = take(through: "\r\n"),
                let size = Int(line.prefix(while: \.isHexDigit), radix: 16)
            {
                guard let chunk = take(count: size + 2) else { return false }
                if size == 0 { return true }
                text += chunk.dropLast(2)
                Self.cutEvents(&text, &response, onEvent)
            }
            return false
        }
        if let length = response.headers["content-length"].flatMap({ Int($0) }) {
            guard let body = take(count: length) else { return false }
            response.body = String(decoding: body, as: UTF8.self)
            return true
        }
        guard response.isEventStream else { return true }
        while fill() {}
        Self.cutEvents(&buffer, &response, onEvent)
        return true
    }

    /// Moves complete events out of `text`.
    private static func cutEvents(
        _ text: inout [UInt8], _ response: inout WireResponse, _ onEvent: (String) -> Void
    ) {
        while let end = text.indices.dropLast().first(where: { text[$0] == 10 && text[$0 + 1] == 10 }) {
            let event = String(decoding: text[..<end], as: UTF8.self)
            text.removeFirst(end + 2)
            response.frames.append(event)
            let data = event.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map { $0.dropFirst(6) }
            // The first event of a stream may have an id and no data (LEG-06).
            guard data.contains(where: { !$0.isEmpty }) else { continue }
            response.events.append(data.joined(separator: "\n"))
            onEvent(data.joined(separator: "\n"))
        }
    }

    private mutating func fill() -> Bool {
        guard let piece = socket.receive() else { return false }
        buffer += piece
        return true
    }

    private mutating func take(through mark: String) -> String? {
        let mark = Array(mark.utf8)
        while true {
            if buffer.count >= mark.count,
                let end = (0 ... buffer.count - mark.count).first(where: {
                    buffer[$0 ..< $0 + mark.count].elementsEqual(mark)
                })
            {
                defer { buffer.removeFirst(end + mark.count) }
                return String(decoding: buffer[..<(end + mark.count)], as: UTF8.self)
            }
            guard fill() else { return nil }
        }
    }

    private mutating func take(count: Int) -> [UInt8]? {
        while buffer.count < count { guard fill() else { return nil } }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }
}
