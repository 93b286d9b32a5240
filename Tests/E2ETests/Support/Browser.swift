import Foundation
import MCPCore
import TestSupport

/// One window of Chromium, which all tests share, one after the other; or one of Firefox.
actor Browser {
    struct Timeout: Error, CustomStringConvertible {
        let description: String
    }

    static let element = "element-6066-11e4-a52e-4f735466cecf"

    private enum Kind {
        case chromium(Driver, session: String)
        case firefox(Marionette)
    }

    private let kind: Kind

    static let shared = Task { try await Browser.open() }

    private init(_ driver: Driver, _ session: String) { kind = .chromium(driver, session: session) }

    init(_ firefox: Marionette) { kind = .firefox(firefox) }

    private static func open() async throws -> Browser {
        let driver = try Driver.shared.get()
        try await driver.ready()
        let arguments: JSONValue = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            // Nothing is fetched by the browser itself (A45).
            "--disable-background-networking", "--no-first-run", "--disable-component-update",
        ]
        let options: JSONValue = ["binary": .string(Driver.programs?.browser ?? ""), "args": arguments]
        let answer = try await driver.send(
            "POST", "/session",
            [
                "capabilities": [
                    "alwaysMatch": [
                        "browserName": "chrome", "goog:chromeOptions": options,
                        "goog:loggingPrefs": ["browser": "ALL"],
                    ]
                ]
            ])
        guard let session = answer["sessionId"]?.stringValue else {
            throw Timeout(description: "no session: \(answer)")
        }
        unsafe DriverEnd.session = session
        return Browser(driver, session)
    }

    @discardableResult
    func send(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        switch kind {
        case .chromium(let driver, let session):
            try await driver.send(method, "/session/\(session)\(path)", body)
        case .firefox(let firefox): try await firefox.send(method, path, body)
        }
    }

    // MARK: Pages

    func open(_ url: String) async throws { try await send("POST", "/url", ["url": .string(url)]) }

    func reload() async throws { try await send("POST", "/refresh") }

    /// Leaves all frames.
    func top() async throws { try await send("POST", "/frame", ["id": .null]) }

    func enter(_ selector: String) async throws {
        try await send("POST", "/frame", ["id": find(selector)])
    }

    func find(_ selector: String) async throws -> JSONValue {
        try await send("POST", "/element", ["using": "css selector", "value": .string(selector)])
    }

    /// The value of a script's `return`, of a promise too.
    @discardableResult
    func run(_ script: String, _ arguments: JSONValue...) async throws -> JSONValue {
        try await send(
            "POST", "/execute/sync", ["script": .string(script), "args": .array(arguments)])
    }

    /// As a person clicks: with user activation.
    func click(_ selector: String) async throws { try await send("click", to: selector) }

    func type(_ text: String, into selector: String) async throws {
        try await send("value", to: selector, ["text": .string(text)])
    }

    /// Sends a command to an element. One that the page replaces in between is found again: nothing was done.
    private func send(_ command: String, to selector: String, _ body: JSONValue? = nil) async throws {
        for isLast in [false, false, true] {
            let element = try await find(selector)[Self.element]?.stringValue ?? ""
            do {
                try await send("POST", "/element/\(element)/\(command)", body)
                return
            } catch  where !isLast && "\(error)".contains("stale element") {}
        }
    }

    /// Presses keys, wherever the focus is.
    func press(_ keys: String) async throws {
        let actions = keys.flatMap { key -> [JSONValue] in
            ["keyDown", "keyUp"].map { ["type": .string($0), "value": .string(String(key))] }
        }
        try await send(
            "POST", "/actions", ["actions": [["type": "key", "id": "keys", "actions": .array(actions)]]])
    }

    /// Moves the pointer onto an element.
    func hover(_ selector: String) async throws { try await point([selector], []) }

    /// Moves the pointer from one element to another, and presses at once.
    func press(_ selector: String, from other: String) async throws {
        let press: [JSONValue] = ["pointerDown", "pointerUp"].map { ["type": .string($0), "button": 0] }
        try await point([other, selector], press)
    }

    private func point(_ selectors: [String], _ presses: [JSONValue]) async throws {
        var actions: [JSONValue] = []
        for selector in selectors {
            let origin = try await find(selector)
            actions.append(["type": "pointerMove", "duration": 0, "origin": origin, "x": 0, "y": 0])
            // As a hand that reaches a place, and then presses.
            if selector != selectors.last { actions.append(["type": "pause", "duration": 300]) }
        }
        let pointer: JSONValue = [
            "type": "pointer", "id": "mouse", "parameters": ["pointerType": "mouse"],
            "actions": .array(actions + presses),
        ]
        try await send("POST", "/actions", ["actions": [pointer]])
    }

    /// Moves the pointer to a point of the window, and presses.
    func press(at x: Int, _ y: Int) async throws {
        let move: JSONValue = ["type": "pointerMove", "duration": 50, "x": JSONValue(x), "y": JSONValue(y)]
        let near: JSONValue = [
            "type": "pointerMove", "duration": 50, "x": JSONValue(x - 5), "y": JSONValue(y),
        ]
        let pause: JSONValue = ["type": "pause", "duration": 100]
        try await send(
            "POST", "/actions",
            [
                "actions": [
                    [
                        "type": "pointer", "id": "mouse", "parameters": ["pointerType": "mouse"],
                        "actions": [
                            near, pause, move, ["type": "pointerDown", "button": 0],
                            ["type": "pointerUp", "button": 0],
                        ],
                    ]
                ]
            ])
    }

    /// Waits until a script returns something true; its value.
    @discardableResult
    func wait(
        _ script: String, _ arguments: JSONValue..., atMost limit: Duration = .seconds(20)
    ) async throws -> JSONValue {
        let deadline = ContinuousClock.now + limit
        while true {
            // A frame that is being replaced has no answer yet.
            let value =
                (try? await send(
                    "POST", "/execute/sync", ["script": .string(script), "args": .array(arguments)])) ?? .null
            switch value {
            case .null, .bool(false), "": break
            default: return value
            }
            guard ContinuousClock.now < deadline else {
                throw Timeout(description: "never true: \(script) \(arguments)")
            }
            try await Task.sleep(for: .milliseconds(40))
        }
    }

    // MARK: The browser

    func windows() async throws -> [String] {
        try await send("GET", "/window/handles").arrayValue?.compactMap(\.stringValue) ?? []
    }

    func window() async throws -> String { try await send("GET", "/window").stringValue ?? "" }

    func select(window: String) async throws {
        try await send("POST", "/window", ["handle": .string(window)])
    }

    /// Closes all windows but these, each after a last look at it.
    func closeWindows(except kept: [String], _ look: () async throws -> Void = {}) async throws {
        let own = try await window()
        for window in try await windows() where !kept.contains(window) {
            try await select(window: window)
            try await look()
            try await send("DELETE", "/window")
        }
        try await select(window: own)
    }

    func emulate(_ command: String, _ parameters: JSONValue) async throws {
        try await send("POST", "/goog/cdp/execute", ["cmd": .string(command), "params": parameters])
    }

    func resize(_ width: Int, _ height: Int) async throws {
        try await emulate(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": JSONValue(width), "height": JSONValue(height), "deviceScaleFactor": 1,
                "mobile": false,
            ])
    }

    /// Enlarges the page as two fingers do: the window shows a part of it.
    func enlarge(_ factor: Double) async throws {
        try await emulate("Emulation.setPageScaleFactor", ["pageScaleFactor": JSONValue(factor)])
    }

    /// Moves the part that an enlarged page shows, to the left and up by these CSS pixels.
    func pan(_ x: JSONValue, _ y: JSONValue) async throws {
        try await emulate(
            "Input.synthesizeScrollGesture",
            [
                "x": 200, "y": 100, "xDistance": x, "yDistance": y, "speed": 4000,
                "gestureSourceType": "mouse",
            ])
    }

    func colours(_ scheme: String) async throws {
        try await emulate(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": .string(scheme)]]])
    }

    /// What was written to the console since the last time.
    func console() async throws -> [String] {
        try await send("POST", "/se/log", ["type": "browser"]).arrayValue?.compactMap {
            $0["message"]?.stringValue
        } ?? []
    }

    /// A PNG of the window.
    func picture() async throws -> [UInt8] {
        let text = try await send("GET", "/screenshot").stringValue ?? ""
        return Array(Data(base64Encoded: text) ?? Data())
    }
}
