import Foundation
import MCPCore
import TestSupport

/// chromedriver as one process for the whole run; it ends with this process.
final class Driver: Sendable {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// Where chromedriver and Chromium are; nil: nowhere. In CI a missing one fails the tests.
    static let programs: (driver: String, browser: String)? = {
        func find(_ names: [String]) -> String? {
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
            return names.lazy.flatMap { name in folders.map { "\($0)/\(name)" } }.first {
                FileManager.default.isExecutableFile(atPath: $0)
            }
        }
        guard let driver = find(["chromedriver"]),
            let browser = find(["chromium", "chromium-browser", "google-chrome"])
        else { return nil }
        return (driver, browser)
    }()

    static var isWanted: Bool {
        programs != nil || ProcessInfo.processInfo.environment["CI"] != nil
    }

    static let shared = Result { try Driver() }

    let port: UInt16

    private init() throws {
        guard let programs = Self.programs else {
            throw Missing(description: "no chromedriver: apt-get install chromium chromium-driver")
        }
        port = try freePort()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: programs.driver)
        process.arguments = ["--port=\(port)"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        unsafe DriverEnd.pid = process.processIdentifier
        unsafe DriverEnd.port = port
        atexit { DriverEnd.run() }
    }

    /// One request; the member `value` of the answer.
    func send(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        let text = body?.serialized() ?? (method == "POST" ? "{}" : nil)
        let answer = try await PlainHTTP.send(
            method, path, port: port,
            headers: [("Content-Type", "application/json"), ("Connection", "close")], body: text, timeout: 60)
        let value = try JSONValue(parsing: answer.text)["value"] ?? .null
        guard answer.status == 200 else {
            let message = value["message"]?.stringValue ?? answer.text
            throw Missing(description: "\(method) \(path): \(message.prefix(600))")
        }
        return value
    }

    /// Waits until the driver answers.
    func ready() async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            if let answer = try? await send("GET", "/status"), answer["ready"] == true { return }
            guard ContinuousClock.now < deadline else { throw Missing(description: "chromedriver is silent") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

/// What is left to do when the process ends.
enum DriverEnd {
    // SAFETY: set once before the handler is registered, which runs when everything else is over.
    nonisolated(unsafe) static var pid: Int32 = 0
    nonisolated(unsafe) static var port: UInt16 = 0
    /// The browser that is to be closed; it would outlive its driver.
    nonisolated(unsafe) static var session = ""

    static func run() {
        for (method, path) in unsafe [("DELETE", "/session/\(session)"), ("GET", "/shutdown")] {
            guard let connection = unsafe try? PlainConnection(port: port, timeout: 5) else { continue }
            try? connection.send(method, path, headers: [("Host", "localhost"), ("Connection", "close")])
            _ = try? connection.head()
        }
        guard unsafe pid > 0 else { return }
        // Those that a thread of a pool starts may have SIGTERM blocked.
        unsafe kill(pid, SIGKILL)
        var status: Int32 = 0
        unsafe waitpid(pid, &status, 0)
    }
}
