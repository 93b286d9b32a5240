// A server that offers everything the public conformance suite asks for, in every revision.
//
//     conformance-server --listen 127.0.0.1:PORT      endpoint /mcp
//     conformance-server --stdio
import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Writes to standard error.
func say(_ text: String) {
    var bytes = Array(text.utf8)
    _ = unsafe write(2, &bytes, bytes.count)
}

let usage = "usage: conformance-server --listen 127.0.0.1:PORT | --stdio\n"

switch Array(CommandLine.arguments.dropFirst()) {
case ["--stdio"]:
    try await ConformanceServer.make().run(.stdio)
case let arguments where arguments.count == 2 && arguments[0] == "--listen":
    let parts = arguments[1].split(separator: ":")
    guard parts.count == 2, let port = UInt16(parts[1]) else {
        say(usage)
        exit(2)
    }
    let address = ListenAddress.tcp(host: String(parts[0]), port: port)
    // Requests that come before this line wait in the listener's queue.
    say("listening on http://\(arguments[1])/mcp\n")
    try await ConformanceServer.make().run(.http(address))
default:
    say(usage)
    exit(2)
}
