// An MCP server behind a third-party HTTP stack. The stack here is a tiny blocking HTTP/1.0 server: it
// reads a request, passes it to the endpoint, and writes the response. A real one is a web framework of
// your choice.
//
// Usage: example-behind-own-http [PORT]
import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

// A client that leaves early must not end the program.
signal(SIGPIPE, SIG_IGN)

let server = MCPServer("numbers", version: "1.0")
server.addTool("double", "Doubles a number", Argument("n")) { (n: Int) in n * 2 }
struct Step: Codable, Sendable { var upTo: Int }
server.addTool("steps", "Counts and reports each step") { (step: Step, context) in
    for number in 1 ... max(1, min(step.upTo, 100)) {
        await context.progress(Double(number), total: Double(step.upTo))
    }
    return "counted to \(step.upTo)"
}

// Made once: it checks hosts and origins and keeps the sessions of older clients.
let endpoint = server.makeEndpoint()

let listener = try openListener(port: CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 0)
print("listening on http://127.0.0.1:\(listener.port)/mcp")
fflush(nil)
while true {
    let client = accept(listener.descriptor, nil, nil)
    guard client >= 0 else { continue }
    if let request = readRequest(client) {
        await write(endpoint.respond(to: request), to: client)
    }
    close(client)
}

// MARK: The HTTP server

func openListener(port: UInt16) throws -> (descriptor: Int32, port: UInt16) {
    #if canImport(Glibc)
    let kind = Int32(SOCK_STREAM.rawValue)
    #else
    let kind = SOCK_STREAM
    #endif
    let descriptor = socket(AF_INET, kind, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
            bind(descriptor, plain, length) == 0 && listen(descriptor, 16) == 0
                && getsockname(descriptor, plain, &length) == 0
        }
    }
    guard isOpen else { throw ToolError("cannot listen on port \(port)") }
    return (descriptor, UInt16(bigEndian: address.sin_port))
}

/// Reads one request with its body; nil when the client disconnects or sends something invalid.
func readRequest(_ descriptor: Int32) -> HTTPRequest? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    let mark = Array("\r\n\r\n".utf8)
    while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0, bytes.count < 1_000_000 else { return nil }
        bytes += buffer[..<count]
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else { continue }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        var headers = HeaderFields()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"),
                (try? headers.append(String(line[..<colon]), String(line[line.index(after: colon)...])))
                    != nil
            else { return nil }
        }
        let length = headers["Content-Length"].flatMap { Int($0) } ?? 0
        let body = bytes[(end + mark.count)...]
        guard words.count == 3, length >= 0 else { return nil }
        if body.count >= length {
            return HTTPRequest(
                method: String(words[0]), target: String(words[1]), headers: headers,
                body: Array(body.prefix(length)))
        }
    }
}

func write(_ response: HTTPResponse, to descriptor: Int32) async {
    var head = "HTTP/1.0 \(response.status) \(response.status < 300 ? "OK" : "Refused")\r\n"
    for field in response.headers { head += "\(field.name): \(field.value)\r\n" }
    guard send(Array((head + "Connection: close\r\n\r\n").utf8), to: descriptor) else { return }
    // A streamed response arrives in parts. To stop reading them cancels the request.
    for await part in response.body.parts {
        guard send(part, to: descriptor) else { return }
    }
}

func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}
