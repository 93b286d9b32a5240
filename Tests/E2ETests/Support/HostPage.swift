import Foundation
import MCPCore
import TestSupport
import Testing

/// The page of a host in the browser.
struct HostPage {
    let browser: Browser
    let host: HostProgram

    /// Runs a body with a host, its page open and all its servers connected.
    static func with(
        _ words: [String], servers: Int = 1, in own: Browser? = nil,
        _ body: (HostPage) async throws -> Void
    ) async throws {
        let browser = if let own { own } else { try await Browser.shared.value }
        let host = try await HostProgram(words)
        defer { host.stop() }
        let page = HostPage(browser: browser, host: host)
        do {
            try await page.open()
            try await page.wait(
                "return document.querySelectorAll('.server[data-state=connected]').length === \(servers)")
            try await body(page)
        } catch {
            // What can be seen tells more than the error alone.
            let text = try? await browser.run("return document.body.innerText.slice(0, 3000)")
            Issue.record("\(error)\n\(text?.stringValue ?? "")\n\(host.errorText.suffix(2000))")
        }
        try? await browser.top()
        try? await browser.open("about:blank")
    }

    static func with(
        _ servers: [ViewServer], flags: [String] = [], _ body: (HostPage) async throws -> Void
    ) async throws {
        try await with(flags + servers.map(\.url), servers: servers.count, body)
        for server in servers {
            server.gate.open()
            await server.stop()
        }
    }

    func open() async throws {
        try await browser.resize(1280, 900)
        try await browser.colours("light")
        _ = try await browser.console()
        try await browser.open(host.address)
        try await wait("return document.body.dataset.online === 'yes'")
    }

    @discardableResult
    func run(_ script: String, _ arguments: JSONValue...) async throws -> JSONValue {
        try await browser.send(
            "POST", "/execute/sync", ["script": .string(script), "args": .array(arguments)])
    }

    @discardableResult
    func wait(_ script: String, atMost limit: Duration = .seconds(20)) async throws -> JSONValue {
        try await browser.wait(script, atMost: limit)
    }

    // MARK: Calls

    /// Chooses a tool and waits for its form.
    func choose(_ tool: String) async throws {
        try await wait("return !!document.querySelector('.pick[data-tool=\"\(tool)\"]')")
        try await run("document.querySelector('.pick[data-tool=\"\(tool)\"]').click()")
        try await wait(
            "return document.querySelector('.pick[data-tool=\"\(tool)\"]').getAttribute('aria-pressed') === 'true'"
                + " && document.querySelector('.compose')?.data.tool === '\(tool)'")
    }

    /// Calls a tool with arguments as JSON; the id of the call.
    @discardableResult
    func call(_ tool: String, _ arguments: String = "{}") async throws -> String {
        try await choose(tool)
        let newest = try await run("return document.querySelector('#cards > .card')?.dataset.call")
        try await browser.click(".compose .swap")
        try await wait("return !document.querySelector('.raw').hidden")
        try await run("document.querySelector('.raw').value = arguments[0]", .string(arguments))
        try await browser.click(".compose .call")
        // The newest is the first.
        let id = try await browser.wait(
            "const [card] = document.querySelectorAll('#cards > .card');"
                + "return card?.dataset.tool === '\(tool)' && card.dataset.call !== arguments[0]"
                + " && card.dataset.call", newest)
        return id.stringValue ?? ""
    }

    func state(of call: String) async throws -> String {
        try await run("return document.querySelector('[data-call=\"\(call)\"]').dataset.state").stringValue
            ?? ""
    }

    func wait(for state: String, of call: String) async throws {
        try await wait(
            "return document.querySelector('[data-call=\"\(call)\"]').dataset.state === '\(state)'")
    }

    /// Calls a tool that has a view, and waits until the view has the result.
    func show(_ tool: String, _ arguments: String = "{}") async throws -> ShownView {
        let view = try await view(of: call(tool, arguments))
        try await view.wait("return of('ui/notifications/tool-result').length === 1")
        return view
    }

    /// The view of a call, once it has said `initialized`.
    func view(of call: String) async throws -> ShownView {
        let id = try await wait(
            "return document.querySelector('[data-call=\"\(call)\"] [data-view]')?.dataset.view")
        let view = ShownView(page: self, id: id.stringValue ?? "")
        try await view.wait("return typeof context === 'object'")
        return view
    }

    func exists(_ view: ShownView) async throws -> Bool {
        try await run("return !!document.querySelector('[data-view=\"\(view.id)\"]')").boolValue ?? false
    }

    // MARK: Questions

    /// Waits for a question; its text.
    func question() async throws -> String {
        try await wait("return document.querySelector('.question')?.innerText").stringValue ?? ""
    }

    /// A question over which a view may have something.
    static let covered = ".question:is([data-why=press], [data-why=key])"

    /// A script that scrolls what is long in a question to its end.
    static let reading =
        "for (const box of document.querySelectorAll('.question :is(.words, h2, .topic)'))"
        + " box.scrollTop = box.scrollHeight;"

    func answer(_ button: String) async throws {
        // A question that moves, or is not all in sight and read, cannot be agreed to.
        let id = try await wait("return document.querySelector('.question')?.data.id")
        try await run("document.querySelector('.question').scrollIntoView({ block: 'center' })")
        try await press()
        try await wait(
            "\(Self.reading) return document.querySelector('.question .\(button)')?.ariaDisabled === null")
        try await agree(".question .\(button)")
        try await browser.wait("return document.querySelector('.question')?.data.id !== arguments[0]", id)
    }

    /// Takes the keyboard from a view that has had it.
    func press() async throws {
        let isCovered = try await run("return document.querySelector('\(Self.covered)') !== null")
        guard isCovered == true else { return }
        try await browser.click(".question h2")
        try await wait("return document.querySelector('\(Self.covered)') === null")
    }

    /// Presses a button that accepts, once it does: the pointer that reaches it has to stay for a moment.
    func agree(_ selector: String) async throws {
        try await press()
        try await browser.hover(selector)
        try await browser.wait(
            "return document.querySelector(arguments[0])?.ariaDisabled === null", .string(selector))
        try await browser.click(selector)
    }

    /// Answers the first question of a page that moves: a click that comes too late has no effect and is repeated.
    func answerWhileMoving(_ button: String) async throws {
        let id = try await wait("return document.querySelector('.question')?.data.id")
        let isGone = "return document.querySelector('.question')?.data.id !== arguments[0]"
        let isEnabled = "return document.querySelector('.question .\(button)')?.ariaDisabled === null"
        for _ in 1 ... 10 {
            // What moves may leave the window.
            try await run("document.querySelector('.question').scrollIntoView({ block: 'center' })")
            try? await press()
            guard (try? await browser.wait(isEnabled, atMost: .seconds(5))) != nil else { continue }
            // A click that the moving page intercepts is one without an effect.
            try? await browser.click(".question .\(button)")
            if (try? await browser.wait(isGone, id, atMost: .seconds(5))) != nil { return }
        }
        Issue.record("no click on \(button) had an effect")
    }

    /// Waits until a text stands in a part of the page.
    func waitForText(_ text: String, in selector: String) async throws {
        try await browser.wait(
            "return document.querySelector(arguments[0])?.textContent.includes(arguments[1])",
            .string(selector), .string(text))
    }

    // MARK: Pictures

    /// Keeps a picture for the documentation, when MCP_E2E_PICTURES names a folder.
    func picture(_ name: String) async throws {
        guard let folder = ProcessInfo.processInfo.environment["MCP_E2E_PICTURES"] else { return }
        let bytes = try await browser.picture()
        try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name).png"))
    }
}

/// A view in the page: scripts run inside its inner frame.
struct ShownView {
    let page: HostPage
    let id: String
    private var browser: Browser { page.browser }

    private func enter() async throws {
        try await browser.top()
        try await browser.enter("[data-view=\"\(id)\"] iframe")
        try await browser.enter("iframe")
    }

    @discardableResult
    func run(_ script: String, _ arguments: JSONValue...) async throws -> JSONValue {
        try await enter()
        let value = try await browser.send(
            "POST", "/execute/sync", ["script": .string(script), "args": .array(arguments)])
        try await browser.top()
        return value
    }

    @discardableResult
    func wait(_ script: String, atMost limit: Duration = .seconds(20)) async throws -> JSONValue {
        let deadline = ContinuousClock.now + limit
        while true {
            // The frame may still be loading.
            let value = (try? await run(script)) ?? .null
            switch value {
            case .null, .bool(false), "": break
            default: return value
            }
            guard ContinuousClock.now < deadline else {
                let heard = (try? await run("return JSON.stringify(heard)"))?.stringValue ?? "not reached"
                throw Browser.Timeout(
                    description: "never true in the view: \(script)\nheard: \(heard.prefix(1500))")
            }
            try await Task.sleep(for: .milliseconds(40))
        }
    }

    /// A request of the view to the host; its result, or `{error}`.
    func request(_ method: String, _ params: JSONValue = [:]) async throws -> JSONValue {
        try await run(
            "return rpc(arguments[0], arguments[1]).then(x => x, error => ({ error }))", .string(method),
            params)
    }

    /// Begins a request that a person has to answer first.
    func begin(_ name: String, _ method: String, _ params: JSONValue) async throws {
        try await run(
            "begin(arguments[0], arguments[1], arguments[2])", .string(name), .string(method), params)
    }

    /// Its end: `{result}` or `{error}`.
    func end(of name: String) async throws -> JSONValue { try await wait("return results['\(name)']") }

    /// The params of all notifications and requests of a method that the view has heard.
    func heard(_ method: String) async throws -> [JSONValue] {
        try await run("return of(arguments[0])", .string(method)).arrayValue ?? []
    }
}
