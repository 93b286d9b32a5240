/// An answer as it came.
package struct PlainResponse: Sendable {
    package var status = 0
    /// Names in lower case; of a repeated field the last value.
    package var headers: [String: String] = [:]
    package var body: [UInt8] = []

    package var text: String { String(decoding: body, as: UTF8.self) }
}

/// One HTTP/1.1 connection that sends what it is told, also what a browser would not. Every wait ends.
package final class PlainConnection {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let descriptor: Int32
    private var received: [UInt8] = []
    private var offset = 0

    package init(port: UInt16, timeout seconds: Int = 10) throws {
        guard let descriptor = BlockingSocket.connect(port, waitingAtMost: seconds) else {
            throw Failure(description: "port \(port) does not answer")
        }
        self.descriptor = descriptor
    }

    deinit { BlockingSocket.close(descriptor) }

    package func send(_ text: String) throws {
        guard BlockingSocket.send(descriptor, text.utf8) else { throw Failure(description: "cannot send") }
    }

    package func send(
        _ method: String, _ target: String, headers: [(String, String)], body: String? = nil
    ) throws {
        var lines = ["\(method) \(target) HTTP/1.1"] + headers.map { "\($0.0): \($0.1)" }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        try send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
    }

    private func more() throws -> Bool {
        guard let bytes = BlockingSocket.receive(descriptor) else {
            throw Failure(description: "nothing came in time")
        }
        received += bytes
        return !bytes.isEmpty
    }

    /// A line without its end; nil at the end of the connection.
    package func line() throws -> String? {
        while true {
            if let end = received[offset...].firstIndex(of: 0x0A) {
                var line = received[offset ..< end]
                if line.last == 0x0D { line.removeLast() }
                offset = end + 1
                return String(decoding: line, as: UTF8.self)
            }
            if try !more() { return nil }
        }
    }

    private func bytes(_ count: Int) throws -> [UInt8] {
        while received.count - offset < count {
            guard try more() else { throw Failure(description: "the connection ended in a body") }
        }
        defer { offset += count }
        return Array(received[offset ..< offset + count])
    }

    /// Status and fields; the body is still to come.
    package func head() throws -> PlainResponse {
        guard let first = try line() else { throw Failure(description: "closed without an answer") }
        var response = PlainResponse()
        response.status = Int(first.split(separator: " ").dropFirst().first ?? "") ?? 0
        while let line = try line(), !line.isEmpty {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            response.headers[parts[0].lowercased()] =
                parts.count > 1 ? parts[1].trimmingBlanks() : ""
        }
        return response
    }

    package func response(toHead isHead: Bool = false) throws -> PlainResponse {
        var response = try head()
        if isHead || response.status == 204 || response.status == 304 { return response }
        if response.headers["transfer-encoding"] == "chunked" {
            while let chunk = try chunk(), !chunk.isEmpty { response.body += chunk }
        } else if let length = response.headers["content-length"].flatMap({ Int($0) }) {
            response.body = try bytes(length)
        } else {
            while try more() {}
            response.body = Array(received[offset...])
            offset = received.count
        }
        return response
    }

    /// One chunk; an empty one is the last; nil at the end of the connection.
    private func chunk() throws -> [UInt8]? {
        guard let size = try line() else { return nil }
        let data = try bytes(Int(size.prefix { $0 != ";" }, radix: 16) ?? 0)
        _ = try line()
        return data
    }

    private var events = ""

    /// The next server-sent event behind a head; nil at the end.
    package func event() throws -> (id: String?, data: String)? {
        while true {
            if let end = events.firstRange(of: "\n\n") {
                let block = events[..<end.lowerBound]
                events = String(events[end.upperBound...])
                let lines = block.split(separator: "\n")
                let data = lines.filter { $0.hasPrefix("data: ") }.map { $0.dropFirst(6) }
                if data.isEmpty { continue }
                let id = lines.first { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
                return (id, data.joined(separator: "\n"))
            }
            guard let chunk = try chunk(), !chunk.isEmpty else { return nil }
            events += String(decoding: chunk, as: UTF8.self)
        }
    }
}

/// One request on a connection of its own.
package enum PlainHTTP {
    package static func send(
        _ method: String, _ target: String, port: UInt16, host: String? = nil,
        headers: [(String, String)] = [], body: String? = nil, timeout: Int = 30
    ) async throws -> PlainResponse {
        try await onThread {
            let connection = try PlainConnection(port: port, timeout: timeout)
            try connection.send(
                method, target, headers: [("Host", host ?? "127.0.0.1:\(port)")] + headers, body: body)
            return try connection.response(toHead: method == "HEAD")
        }
    }
}
