// A server that offers everything the public conformance suite asks for, in every revision.
//
//     conformance-server --listen 127.0.0.1:PORT      endpoint /mcp; port 0 takes a free one
//     conformance-server --stdio
//
// Over HTTP the first line of its output says where it listens. SIGTERM ends it.
import Dispatch
import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

func say(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)
    _ = unsafe write(descriptor, &bytes, bytes.count)
}

func serve(_ address: ListenAddress) async throws {
    let running = try ConformanceServer.make().start([.http(address)])
    signal(SIGTERM, SIG_IGN)
    let ending = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
    ending.setEventHandler { running.requestStop() }
    ending.resume()
    for address in running.addresses { say("listening on http://\(address)/mcp\n", to: 1) }
    await running.waitUntilEnded()
}

let usage = "usage: conformance-server --listen 127.0.0.1:PORT | --stdio\n"

switch Array(CommandLine.arguments.dropFirst()) {
case ["--stdio"]:
    try await ConformanceServer.make().run(.stdio)
case let arguments where arguments.count == 2 && arguments[0] == "--listen":
    let parts = arguments[1].split(separator: ":")
    guard parts.count == 2, let port = UInt16(parts[1]) else {
        say(usage, to: 2)
        exit(2)
    }
    try await serve(.tcp(host: String(parts[0]), port: port))
default:
    say(usage, to: 2)
    exit(2)
}
