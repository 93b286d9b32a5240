import Foundation
import MCPCore
import TestSupport

/// Firefox by its own protocol, Marionette: lengths and JSON over a connection of this machine. It takes the
/// requests of WebDriver that the tests make, so that they need no further program.
actor Marionette {
    private let firefox: Process
    private let folder: String
    private let connection: LineConnection
    private var last = 0

    /// The path of Firefox; nil: there is none.
    static let program: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return ["firefox-esr", "firefox"].lazy.flatMap { name in folders.map { "\($0)/\(name)" } }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }()

    init() async throws {
        guard let program = Self.program else { throw Driver.Missing(description: "no Firefox") }
        folder = NSTemporaryDirectory() + "mcp-firefox-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let port = try freePort()
        let settings = """
            user_pref("marionette.port", \(port));
            user_pref("browser.shell.checkDefaultBrowser", false);
            user_pref("datareporting.policy.dataSubmissionEnabled", false);
            user_pref("network.captive-portal-service.enabled", false);
            user_pref("network.connectivity-service.enabled", false);
            user_pref("app.update.auto", false);

            """
        try settings.write(toFile: folder + "/user.js", atomically: true, encoding: .utf8)
        firefox = Process()
        firefox.executableURL = URL(fileURLWithPath: program)
        firefox.arguments = ["--marionette", "--headless", "--no-remote", "--profile", folder]
        firefox.environment = ["PATH": "/usr/bin:/bin", "HOME": folder, "MOZ_DISABLE_CONTENT_SANDBOX": "1"]
        firefox.standardInput = FileHandle.nullDevice
        firefox.standardOutput = FileHandle.nullDevice
        firefox.standardError = FileHandle.nullDevice
        try firefox.run()
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            if let made = try? await onThread({ try LineConnection(port: port) }) {
                connection = made
                break
            }
            guard ContinuousClock.now < deadline, firefox.isRunning else {
                firefox.terminate()
                throw Browser.Timeout(description: "Firefox is silent")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        let connection = connection
        _ = try await onThread { try connection.read() }
        _ = try await command("WebDriver:NewSession", ["capabilities": ["alwaysMatch": [:]]])
    }

    func stop() async {
        _ = try? await command("Marionette:Quit", ["flags": ["eForceQuit"]])
        // Those that a thread of a pool starts may have SIGTERM blocked.
        kill(firefox.processIdentifier, SIGKILL)
        firefox.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func command(_ name: String, _ parameters: JSONValue = [:]) async throws -> JSONValue {
        last += 1
        let message: JSONValue = [0, JSONValue(last), .string(name), parameters]
        let connection = connection
        let answer = try await onThread {
            try connection.write(message)
            return try connection.read()
        }
        if let error = answer[2], !error.isNull {
            throw Driver.Missing(description: "\(name): \(error["message"]?.stringValue ?? "\(error)")")
        }
        let result = answer[3] ?? .null
        return result["value"] ?? result
    }

    /// One request of WebDriver, by its path below the session.
    func send(_ method: String, _ path: String, _ body: JSONValue?) async throws -> JSONValue {
        let body = body ?? [:]
        let parts = path.split(separator: "/").map(String.init)
        switch (method, parts.first ?? "", parts.last ?? "") {
        case ("POST", "url", _): return try await command("WebDriver:Navigate", body)
        case ("POST", "refresh", _): return try await command("WebDriver:Refresh")
        case ("POST", "frame", _):
            guard let element = body["id"]?[Browser.element] else {
                return try await command("WebDriver:SwitchToFrame", ["id": .null])
            }
            return try await command("WebDriver:SwitchToFrame", ["element": element])
        case ("POST", "element", "element"): return try await command("WebDriver:FindElement", body)
        case ("POST", "element", "click"):
            return try await command("WebDriver:ElementClick", ["id": .string(parts[1])])
        case ("POST", "element", "value"):
            return try await command(
                "WebDriver:ElementSendKeys", ["id": .string(parts[1]), "text": body["text"] ?? ""])
        case ("POST", "execute", _): return try await command("WebDriver:ExecuteScript", body)
        case ("POST", "actions", _): return try await command("WebDriver:PerformActions", body)
        case ("GET", "screenshot", _): return try await command("WebDriver:TakeScreenshot", ["full": false])
        case ("POST", "window", "new"): return try await command("WebDriver:NewWindow", body)
        case ("POST", "window", _): return try await command("WebDriver:SwitchToWindow", body)
        case ("DELETE", "window", _): return try await command("WebDriver:CloseWindow")
        case ("GET", "window", "handles"): return try await command("WebDriver:GetWindowHandles")
        case ("GET", "window", _): return try await command("WebDriver:GetWindowHandle")
        case ("POST", "se", _): return []
        case ("POST", "goog", _): return .null
        default: throw Driver.Missing(description: "Firefox: no \(method) \(path)")
        }
    }
}

/// A connection with messages of the form `LENGTH:JSON`.
private final class LineConnection: @unchecked Sendable {
    // SAFETY: used by one call at a time.
    private let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            throw Browser.Timeout(description: "not listening")
        }
        // A browser that says nothing must not hang the tests.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    func write(_ message: JSONValue) throws {
        let text = Array(message.serialized().utf8)
        let bytes = Array("\(text.count):".utf8) + text
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Foundation.write(descriptor, $0.baseAddress! + sent, bytes.count - sent)
            }
            guard count > 0 else { throw Browser.Timeout(description: "Firefox is gone") }
            sent += count
        }
    }

    func read() throws -> JSONValue {
        var length = 0
        while true {
            let byte = try bytes(1)[0]
            if byte == UInt8(ascii: ":") { break }
            length = length * 10 + Int(byte) - 48
        }
        return try JSONValue(parsing: try bytes(length))
    }

    private func bytes(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var read = 0
        while read < count {
            let more = uninterrupted {
                unsafe bytes.withUnsafeMutableBytes {
                    unsafe Foundation.read(descriptor, $0.baseAddress! + read, count - read)
                }
            }
            guard more > 0 else { throw Browser.Timeout(description: "Firefox does not answer") }
            read += more
        }
        return bytes
    }
}
