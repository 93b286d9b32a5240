import Synchronization

@testable import MCPCore

/// A client and a hostile server: each call ends with a value or a typed error, whatever the server sends.
enum ClientFuzz {
    /// The first byte chooses the transport.
    static func check(_ input: [UInt8]) throws {
        let (isHTTP, rest) = (input.first == 0x48, Array(input.dropFirst()))
        try blocking("the client") {
            if isHTTP {
                try await converse(.http("http://127.0.0.1:9/mcp", carrier: ScriptCarrier(rest)))
            } else {
                let transport = ScriptLines(rest)
                try await converse(.transport("script") { transport })
                try require(transport.closings <= 1, "closed \(transport.closings) times")
            }
        }
    }

    private static func converse(_ target: MCPCore.ClientTarget) async throws {
        var options = ClientOptions()
        options.connectTimeout = .milliseconds(120)
        options.probeTimeout = .milliseconds(60)
        options.timeout = .milliseconds(80)
        options.restart = .never
        options.onElicit = { _ in .decline }
        guard let client = try await typed({ try await MCPClient.connect(target, options: options) }) else {
            return
        }
        _ = try await typed { try await client.listTools() }
        _ = try await typed { try await client.callTool("x", ["a": 1]) }
        _ = try await typed { try await client.readResource("demo:///x") }
        await client.close()
        try require(client.connection.pending.count == 0, "calls are left")
    }

    /// Returns the value, or nil after an error of a documented type.
    private static func typed<T: Sendable>(_ body: () async throws -> T) async throws -> T? {
        do {
            return try await body()
        } catch is ClientError {
            return nil
        } catch is MCPError {
            return nil
        } catch {
            throw Finding(description: "an error of the type \(type(of: error)): \(error)")
        }
    }
}

/// Answers each message with the next lines of a script, in which `ID` is the id of the message; a line that
/// begins with `+` is followed by the next one at once. At its end, the server is gone.
private final class ScriptLines: MessageTransport {
    private struct State {
        var lines: [[UInt8]]
        var waiting: [[UInt8]] = []
        var isOver = false
        var closings = 0
        var receiver: CheckedContinuation<[UInt8]?, Never>?
    }

    private let state: Mutex<State>

    init(_ script: [UInt8]) { state = Mutex(State(lines: script.lines(atMost: 24))) }

    var closings: Int { state.withLock { $0.closings } }

    func send(_ message: [UInt8]) async throws {
        let id = (try? JSONValue(parsing: message))?["id"]?.serialized()
        let resumption = state.withLock { state -> (CheckedContinuation<[UInt8]?, Never>, [UInt8]?)? in
            var goesOn = id != nil
            while goesOn {
                guard !state.lines.isEmpty else {
                    state.isOver = true
                    break
                }
                var line = state.lines.removeFirst()
                goesOn = line.first == 0x2B
                if goesOn { line.removeFirst() }
                state.waiting.append(Array(line.text.replacingAll("ID", with: id ?? "0").utf8))
            }
            return Self.next(&state)
        }
        if let (receiver, line) = resumption { receiver.resume(returning: line) }
    }

    func receive() async throws -> [UInt8]? {
        await withCheckedContinuation { continuation in
            let resumption = state.withLock { state -> (CheckedContinuation<[UInt8]?, Never>, [UInt8]?)? in
                state.receiver = continuation
                return Self.next(&state)
            }
            if let (receiver, line) = resumption { receiver.resume(returning: line) }
        }
    }

    func close() async {
        let receiver = state.withLock { state in
            state.closings += 1
            state.isOver = true
            defer { state.receiver = nil }
            return state.receiver
        }
        receiver?.resume(returning: nil)
    }

    private static func next(_ state: inout State) -> (CheckedContinuation<[UInt8]?, Never>, [UInt8]?)? {
        guard let receiver = state.receiver, !state.waiting.isEmpty || state.isOver else { return nil }
        state.receiver = nil
        return (receiver, state.waiting.isEmpty ? nil : state.waiting.removeFirst())
    }
}

/// Answers each request with the next part of a script; parts are separated by a line `--`. A part is a line with
/// a status, fields, an empty line and a body. At the end of the script, the server is gone.
private final class ScriptCarrier: HTTPCarrier {
    private struct Task: HTTPCarrierTask {
        func cancel() {}
    }

    private let parts: Mutex<[[[UInt8]]]>

    init(_ script: [UInt8]) {
        let lines = script.split(separator: 0x0A, maxSplits: 60, omittingEmptySubsequences: false).map {
            Array($0)
        }
        parts = Mutex(lines.split(separator: Array("--".utf8)).map { Array($0) })
    }

    func start(_ request: HTTPCarrierRequest, _ receiver: HTTPCarrierReceiver) -> any HTTPCarrierTask {
        guard let lines = parts.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
            receiver.fail("gone", wasConnected: false)
            return Task()
        }
        let head = lines.dropFirst().prefix { !$0.isEmpty }
        let fields = head.map { line -> (name: String, value: String) in
            let parts = line.split(separator: 0x3A, maxSplits: 1, omittingEmptySubsequences: false)
            return (Array(parts[0]).text, Array(parts.dropFirst().first ?? []).text)
        }
        let id = (try? JSONValue(parsing: request.body))?["id"]?.serialized() ?? "0"
        let body = Array(lines.dropFirst(head.count + 2).joined(separator: [0x0A]))
        let bytes = Array(body.text.replacingAll("ID", with: id).utf8)
        receiver.begin(status: Int(lines.first?.text ?? "") ?? 200, fields: fields)
        let half = bytes.count / 2
        receiver.receive(Array(bytes[..<half]))
        receiver.receive(Array(bytes[half...]))
        receiver.finish()
        return Task()
    }
}
