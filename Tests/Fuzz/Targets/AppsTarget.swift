@testable import MCPApps
@testable import MCPCore

/// MCP Apps: incomplete JSON, and the protocol between a host and a view.
enum AppsTarget {
    /// Each beginning of a container heals, and the whole heals to itself.
    static func checkPartial(_ input: [UInt8]) throws {
        let text = input.text
        let healed = try limited("healing", to: 1) { PartialJSON.heal(text) }
        guard let whole = try? JSONValue(parsing: text) else { return }
        let isContainer = whole.arrayValue != nil || whole.objectValue != nil
        if isContainer || whole.stringValue != nil {
            try require(healed == whole, "the whole heals differently")
        }
        guard isContainer else { return }
        try limited("healing each beginning", to: 5) {
            var beginning = ""
            var isOpen = false
            for scalar in text.unicodeScalars.prefix(300) {
                beginning.unicodeScalars.append(scalar)
                if scalar == "{" || scalar == "[" { isOpen = true }
                if isOpen { try require(PartialJSON.heal(beginning) != nil, "is not healed: \(beginning)") }
            }
        }
    }

    /// One message or event per line: each request of the view that is performed is answered or cancelled, each
    /// request of the host is answered once, and the order of input and result is kept.
    static func checkBridge(_ input: [UInt8]) throws {
        var play = try BridgePlay(hasResource: (input.first ?? 0) & 1 == 0)
        for line in input.lines(atMost: 60) { try play.step(line) }
        try play.end()
    }
}

private struct BridgePlay {
    private var machine: AppBridgeMachine
    private var now = ContinuousClock.now
    private var open: [ViewRequestID] = []
    private var asked: [HostRequestID] = []
    private var answers: [HostRequestID: Int] = [:]
    private var (closings, inputs, outcomes) = (0, 0, 0)

    init(hasResource: Bool) throws {
        var capabilities = HostCapabilities()
        capabilities.serverTools = true
        capabilities.serverResources = true
        capabilities.sampling = true
        var context = HostContext()
        context.displayMode = .inline
        context.availableDisplayModes = [.inline, .fullscreen]
        var limits = AppBridgeLimits()
        limits.maxMessagesPerSecond = 40
        limits.maxOpenRequests = 4
        machine = AppBridgeMachine(
            hostInfo: Implementation(name: "f", version: "1"), capabilities: capabilities, context: context,
            resource: hasResource ? try UIResource(uri: "ui://x/y", html: "<p>") : nil,
            sandbox: SandboxGrant(permissions: []), limits: limits)
    }

    mutating func step(_ line: [UInt8]) throws {
        now = now.advanced(by: .milliseconds(7))
        guard let first = line.first else { return }
        switch Character(Unicode.Scalar(first)) {
        case "{", "[":
            if let json = try? JSONValue(parsing: line) { try take(machine.receive(json, now: now)) }
        case "a": if let id = open.popLast() { try take(machine.answer(id, .success(["a": 1]))) }
        case "e": if let id = open.popLast() { try take(machine.answer(id, .failure(.internalError("x")))) }
        case "i": try take(machine.toolInput(["x": 1]))
        case "p": try take(machine.toolInputPartial(["x": 1]))
        case "r": try take(machine.toolResult(.text("r")))
        case "c": try take(machine.toolCancelled(reason: nil))
        case "l": try take(machine.serverListChanged(.tools))
        case "q": try ask(.ping)
        case "t": try ask(.listTools(cursor: nil))
        case "g":
            if let id = asked.popLast() {
                try take(machine.giveUp(id))
                // One that was given up is not answered any more.
                if answers[id] != nil { asked.append(id) }
            }
        case "d": try take(machine.teardown(reason: "x"))
        case "x": try take(machine.abandon())
        case "w": now = now.advanced(by: .seconds(2))
        case "0" ... "9": try take(machine.timerFired(Int(first - 0x30)))
        default: break
        }
    }

    private mutating func ask(_ request: HostRequest) throws {
        let (id, effects) = machine.request(request)
        asked.append(id)
        try take(effects)
    }

    private mutating func take(_ effects: [AppBridgeMachine.Effect]) throws {
        for effect in effects {
            switch effect {
            case .send(let message): try hear(message)
            case .perform(_, let id):
                open.append(id)
                try require(
                    machine.viewRequests.count <= 4, "\(machine.viewRequests.count) requests are open")
            case .cancel(let id):
                try require(open.contains(id), "an unknown request was cancelled")
                open.removeAll { $0 == id }
            case .answered(let id, _):
                answers[id, default: 0] += 1
                try require(answers[id] == 1, "a request of the host was answered twice")
            case .close:
                closings += 1
                try require(closings == 1, "closed twice")
            case .setTimer, .notify: break
            }
        }
    }

    private mutating func hear(_ message: JSONValue) throws {
        try require(message["jsonrpc"] == "2.0", "not JSON-RPC: \(message.serialized().prefix(200))")
        switch message["method"]?.stringValue {
        // The page was loaded again.
        case "ui/notifications/sandbox-resource-ready": (inputs, outcomes) = (0, 0)
        case "ui/notifications/tool-input":
            inputs += 1
            try require(inputs == 1 && outcomes == 0, "an input after an input or a result")
        case "ui/notifications/tool-input-partial":
            try require(inputs == 0 && outcomes == 0, "a partial input after the input")
        case "ui/notifications/tool-result", "ui/notifications/tool-cancelled":
            outcomes += 1
            try require(outcomes == 1, "two results")
        default: break
        }
    }

    mutating func end() throws {
        try take(machine.abandon())
        for id in asked { try require(answers[id] == 1, "a request of the host was not answered") }
        try require(open.isEmpty, "requests of the view are open: \(open)")
    }
}
