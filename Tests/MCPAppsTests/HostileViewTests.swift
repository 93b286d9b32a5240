import Testing

@testable import MCPApps
@testable import MCPCore
@testable import MCPHarness

/// Views that say anything at any time: whatever it is, the outcome stays within bounds.
@Suite struct HostileViewTests {
    /// Numbers that are the same in each run (SplitMix64).
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    private static let methods = [
        "ui/initialize", "ui/open-link", "ui/message", "ui/update-model-context", "ui/request-display-mode",
        "ui/download-file", "tools/call", "tools/list", "resources/read", "sampling/createMessage", "ping",
        "x",
        "ui/notifications/initialized", "ui/notifications/size-changed", "ui/notifications/request-teardown",
        "ui/notifications/sandbox-proxy-ready", "ui/notifications/sandbox-csp-violation",
        "notifications/message",
        "notifications/tools/list_changed", "notifications/cancelled", "ui/resource-teardown",
    ]
    private static let names = [
        "url", "role", "content", "contents", "mode", "name", "arguments", "uri", "level", "data", "width",
        "height",
        "requestId", "protocolVersion", "appInfo", "appCapabilities", "structuredContent", "tools", "x",
    ]

    private static func value(_ numbers: inout Numbers, depth: Int = 0) -> JSONValue {
        switch Int.random(in: 0 ..< (depth > 3 ? 7 : 9), using: &numbers) {
        case 0: .null
        case 1: .bool(Bool.random(using: &numbers))
        case 2: JSONValue(Int.random(in: -3 ... 100, using: &numbers))
        case 3: JSONValue(Double.random(in: -1e300 ... 1e300, using: &numbers))
        case 4:
            ["user", "fullscreen", "pip", "https://a.example", "2026-01-26", ""].randomElement(
                using: &numbers) ?? 1
        case 5: ["type": "text", "text": "t"]
        case 6: ["name": "v", "version": "1"]
        case 7:
            .array(
                (0 ..< Int.random(in: 0 ... 3, using: &numbers)).map { _ in value(&numbers, depth: depth + 1)
                })
        default: .object(object(&numbers, depth: depth + 1))
        }
    }

    private static func object(_ numbers: inout Numbers, depth: Int = 0) -> JSONObject {
        var object = JSONObject()
        for _ in 0 ..< Int.random(in: 0 ... 4, using: &numbers) {
            object[names.randomElement(using: &numbers) ?? "x"] = value(&numbers, depth: depth + 1)
        }
        return object
    }

    private static func message(_ numbers: inout Numbers) -> JSONValue {
        if Int.random(in: 0 ..< 20, using: &numbers) == 0 { return value(&numbers) }
        var message: JSONObject = ["jsonrpc": "2.0"]
        if Int.random(in: 0 ..< 3, using: &numbers) > 0 {
            message["id"] = JSONValue(Int.random(in: 1 ... 500, using: &numbers))
        }
        if Int.random(in: 0 ..< 10, using: &numbers) > 0 {
            message["method"] = .string(methods.randomElement(using: &numbers) ?? "")
            message["params"] = .object(object(&numbers))
            // By chance alone hardly any page would get to work.
            if message["method"] == "ui/initialize" {
                message["params"] = [
                    "protocolVersion": "x", "appInfo": ["name": "v"], "appCapabilities": ["tools": [:]],
                ]
            }
            if message["method"] == "resources/read" { message["params"] = ["uri": "x:///y"] }
        } else {
            message[Bool.random(using: &numbers) ? "result" : "error"] = value(&numbers)
        }
        return .object(message)
    }

    // A24
    @Test(arguments: 1 ... 20)
    func anything(seed: UInt64) {
        var numbers = Numbers(state: seed)
        var bench = ViewBench.ready(app: ["tools": [:], "availableDisplayModes": ["fullscreen"]])
        var performed: [ViewRequestID] = []
        var (inputs, outcomes) = (0, 0)
        for turn in 0 ..< 2_000 {
            bench.now += .milliseconds(20)
            var effects = bench.hear(Self.message(&numbers))
            // One message: one answer, or what a new page is told.
            let isNewPage = effects.contains(.notify(.proxyReady)) || effects.contains(.notify(.initialized))
            #expect(isNewPage || effects.sent.count <= 1)
            #expect(isNewPage || effects.count <= 2)
            if isNewPage { (inputs, outcomes) = (0, 0) }
            effects += Self.host(turn, &bench, &numbers)
            for case .perform(_, let id) in effects { performed.append(id) }
            if Bool.random(using: &numbers), let id = performed.randomElement(using: &numbers) {
                effects += bench.machine.answer(id, .success([:]))
            }
            for method in effects.methods {
                // The order holds for each page.
                if method == "ui/notifications/tool-input" {
                    inputs += 1
                    #expect(outcomes == 0)
                }
                if method == "ui/notifications/tool-result" {
                    outcomes += 1
                    #expect(inputs == 1)
                }
                #expect(inputs <= 1 && outcomes <= 1)
            }
            #expect(bench.machine.viewRequests.count <= 64)
            #expect(bench.machine.state != .closed)
        }
        #expect(!performed.isEmpty)
        #expect(bench.machine.teardown(reason: nil).count >= 1)
        #expect(bench.machine.state == .closed || bench.machine.timerFired(1).last == .close)
    }

    /// What a host does meanwhile.
    private static func host(_ turn: Int, _ bench: inout ViewBench, _ numbers: inout Numbers) -> [Effect] {
        switch Int.random(in: 0 ..< 40, using: &numbers) {
        case 0: bench.machine.toolInputPartial(["turn": JSONValue(turn)])
        case 1: bench.machine.toolInput(["turn": JSONValue(turn)])
        case 2: bench.machine.toolResult(.text("\(turn)"))
        case 3: bench.machine.request(.ping).effects
        case 4: bench.machine.timerFired(turn % 3)
        case 5:
            bench.machine.contextChanged(
                {
                    var context = ViewBench.context
                    context.theme = turn % 2 == 0 ? "dark" : "light"
                    return context
                }())
        default: []
        }
    }
}
