import Dispatch

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A dialer that opens a connection to a daemon and turns it into one on which this side is the MCP server.
///
/// It blocks a thread of the system's pool for at most ten seconds.
struct ProviderDialer: Sendable {
    let address: ProviderAddress
    let channel: String
    let clientID: String
    let token: String?

    static let timeout = Duration.seconds(10)
    private static let maxHeadBytes = 16 << 10
    /// The part of a refusal's body that is read: 4 KiB.
    private static let maxReasonBytes = 4 << 10

    /// Returns a connection that has left HTTP; nothing after the response head has been read.
    ///
    /// - Throws: `ClientError`: `.cannotConnect`, `.authentication` for 401 and 403, `.httpStatus` for other
    ///   refusals, `.protocolViolation` when something else responds.
    func dial() async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try connect() }) }
        }
    }

    private func connect() throws -> Int32 {
        let deadline = SystemClock().now + Self.timeout
        let socket = try open(until: deadline)
        let fd = socket.rawValue
        let answer: [UInt8]
        do throws(IOError) {
            try send(request, fd, deadline)
            answer = try head(fd, deadline)
        } catch {
            throw ClientError(.cannotConnect, "the connection to \(address) was lost: \(error.reason)")
        }
        try check(answer, fd, deadline)
        return socket.release()
    }

    private func open(until deadline: MonotonicInstant) throws -> FileDescriptor {
        var reason = "the address does not exist"
        let addresses: [SocketAddress]
        do {
            addresses = try address.resolved()
        } catch {
            throw ClientError(.cannotConnect, "\(error)")
        }
        for candidate in addresses {
            do throws(IOError) {
                let socket = try Syscalls.streamSocket(candidate.domain)
                if try !Syscalls.connect(socket.rawValue, to: candidate) {
                    try wait(for: POLLOUT, socket.rawValue, deadline)
                    if let error = try Syscalls.connectionError(socket.rawValue) { throw error }
                }
                if candidate.family != .unix {
                    try Syscalls.setNoDelay(socket.rawValue)
                    try Syscalls.watchPeer(socket.rawValue)
                }
                return socket
            } catch {
                reason = error.reason
            }
        }
        throw ClientError(
            .cannotConnect, "cannot connect to \(address): \(reason)",
            hint: "is the daemon running with client tools enabled?")
    }

    // MARK: The request

    /// The target of the request, which also asks for reports about the tools.
    var target: String {
        let (channel, client) = (PercentCoding.encode(channel), PercentCoding.encode(clientID))
        return "/providers?channel=\(channel)&client=\(client)&report=1"
    }

    private var request: [UInt8] {
        var text = "POST \(target) HTTP/1.1\r\n"
        text += "Host: \(address.authority)\r\nConnection: Upgrade\r\nUpgrade: mcp\r\n"
        if let token, Self.isFieldValue(token) { text += "Authorization: Bearer \(token)\r\n" }
        text += "Content-Length: 0\r\n\r\n"
        return Array(text.utf8)
    }

    /// Returns whether the text is a valid field value; a token with a line break would add another field.
    static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    private func send(_ bytes: [UInt8], _ fd: Int32, _ deadline: MonotonicInstant) throws(IOError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = try unsafe rest.withUnsafeBufferPointer { bytes throws(IOError) in
                unsafe try Syscalls.send(fd, UnsafeRawBufferPointer(bytes))
            }
            if let sent { rest = rest.dropFirst(sent) } else { try wait(for: POLLOUT, fd, deadline) }
        }
    }

    // MARK: The response

    /// Reads the response head byte by byte, so that nothing after it is consumed before the next owner of
    /// the socket reads it.
    private func head(_ fd: Int32, _ deadline: MonotonicInstant) throws(IOError) -> [UInt8] {
        var head: [UInt8] = []
        let end = Array("\r\n\r\n".utf8)
        while head.count < Self.maxHeadBytes, !head.suffix(4).elementsEqual(end) {
            guard let byte = try next(fd, deadline) else { return head }
            head.append(byte)
        }
        return head
    }

    /// Returns the next byte; nil at the end of the connection.
    private func next(_ fd: Int32, _ deadline: MonotonicInstant) throws(IOError) -> UInt8? {
        var byte: [UInt8] = [0]
        while true {
            let count = try unsafe byte.withUnsafeMutableBufferPointer { bytes throws(IOError) in
                unsafe try Syscalls.receive(fd, into: UnsafeMutableRawBufferPointer(bytes))
            }
            switch count {
            case nil: try wait(for: POLLIN, fd, deadline)
            case 0: return nil
            default: return byte[0]
            }
        }
    }

    private func check(_ head: [UInt8], _ fd: Int32, _ deadline: MonotonicInstant) throws {
        let line = String(decoding: head.prefix { $0 != 0x0D }, as: UTF8.self)
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            throw ClientError(.protocolViolation, "the service at \(address) does not speak HTTP")
        }
        if status != 101 { throw refusal(status, reason: reason(head, fd, deadline)) }
    }

    /// Returns the error for a status.
    ///
    /// - Parameter reason: the daemon's explanation, if it gave one.
    private func refusal(_ status: Int, reason: String?) -> ClientError {
        if status == 401 || status == 403 {
            return ClientError(
                .authentication, "\(address) refused this client (\(status))",
                hint: "the daemon prints the paths of its token files, and a channel may have its own; "
                    + "unix sockets are only for the daemon's own user",
                httpStatus: status)
        }
        let explanation = reason.map { ": \($0)" } ?? ""
        let hint: String? =
            switch status {
            case 404: "are client tools enabled in this daemon?"
            case 409: "choose another name for this client"
            case 426:
                "what stands in front of the daemon does not pass \"Upgrade: mcp\" on, which http:// needs: "
                    + "use https://"
            default: nil
            }
        return ClientError(
            .httpStatus, "\(address) returned status \(status) and does not accept tools\(explanation)",
            hint: hint, httpStatus: status)
    }

    /// Returns the member `error` of the body of a refusal.
    private func reason(_ head: [UInt8], _ fd: Int32, _ deadline: MonotonicInstant) -> String? {
        let lines = String(decoding: head, as: UTF8.self).lowercased().split(separator: "\r\n")
        let field = lines.first { $0.hasPrefix("content-length:") }?.dropFirst("content-length:".count)
        guard let count = field.flatMap({ Int(String($0).trimmed) }),
            (1 ... Self.maxReasonBytes).contains(count)
        else { return nil }
        var body: [UInt8] = []
        while body.count < count {
            guard let byte = try? next(fd, deadline) else { return nil }
            body.append(byte)
        }
        return (try? JSONValue(parsing: body))?["error"]?.stringValue?.cleaned(maxBytes: 512)
    }

    // MARK: Plain HTTP requests

    /// Returns a transport by plain HTTP requests, for https and for a carrier; nil when the
    /// connection itself carries the messages.
    func http(
        carrier: (any HTTPCarrier)?, tls: any TLSProvider
    ) throws(ClientError) -> HTTPClientTransport? {
        guard carrier != nil || address.isSecure else { return nil }
        guard let endpoint = try address.endpoint(target) else {
            throw ClientError(.invalidRequest, "\(address): an HTTP carrier cannot use unix sockets")
        }
        var options = ClientOptions()
        options.connectTimeout = Self.timeout
        options.timeout = .seconds(60)
        if let token, Self.isFieldValue(token) { options.headers = [("Authorization", "Bearer \(token)")] }
        return try HTTPClientTransport(endpoint, options: options, tls: tls, carrier: carrier)
    }

    /// Returns the error for a connection by plain HTTP requests that was not opened.
    func failure(_ error: ClientError) -> ClientError {
        guard let status = error.httpStatus else { return error }
        return refusal(status, reason: error.details.first { $0.hasPrefix("body: ") })
    }

    private func wait(for events: Int32, _ fd: Int32, _ deadline: MonotonicInstant) throws(IOError) {
        let clock = SystemClock()
        var entries = [pollfd(fd: fd, events: Int16(truncatingIfNeeded: events), revents: 0)]
        while true {
            let timeout = clock.pollTimeout(until: deadline, now: clock.now)
            if try Syscalls.poll(&entries, timeoutMilliseconds: timeout) > 0 { return }
            if clock.now >= deadline { throw IOError(errno: ETIMEDOUT, function: "poll") }
        }
    }
}
