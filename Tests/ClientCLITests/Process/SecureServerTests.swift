import TestSupport

#if !canImport(Darwin)
import Foundation
import MCPCore
import Testing
import MCPClientCLI

/// mcp-client and a server behind a TLS proxy. Skipped where OpenSSL 3 is not installed.
@Suite(
    "mcp-client over https (needs libssl.so.3)", .serialized,
    .enabled(if: TLSFront.isWanted, "libssl.so.3 is not installed"))
struct SecureServerTests {
    private func withFront(
        _ identity: TLSIdentity = .server, _ body: (_ port: UInt16, _ trustFile: String) async throws -> Void
    ) async throws {
        let daemon = try DemoDaemon()
        defer { daemon.stop() }
        let front = try TLSFront(identity, to: UInt16(daemon.port))
        defer { front.stop() }
        let file = NSTemporaryDirectory() + "mcp-cli-tls-\(getpid())-\(daemon.port).pem"
        try Data(TLSIdentity.authority.utf8).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await body(front.port, file)
    }

    @Test func aTrustedServer() async throws {
        try await withFront { port, file in
            let url = "https://localhost:\(port)/mcp"
            let outcome = try await ProgramRunner.client("--cacert", file, "call", url, "add", "a=2", "b=3")
            #expect(outcome.code == 0)
            #expect(outcome.stdout == "{\"sum\":5}\n")
            #expect(outcome.stderr.isEmpty)
            let byVariable = try await ProgramRunner.client(
                "call", url, "add", "a=2", "b=3", environment: ["SSL_CERT_FILE": file])
            #expect(byVariable.code == 0)
            #expect(byVariable.stdout == "{\"sum\":5}\n")
        }
    }

    @Test func doctorShowsTheEncryption() async throws {
        try await withFront { port, file in
            let url = "https://localhost:\(port)/mcp"
            let outcome = try await ProgramRunner.client("--cacert", file, "doctor", url)
            #expect(outcome.code == 0, "\(outcome.stdout)\(outcome.stderr)")
            #expect(
                outcome.stdout.contains("\nok    tcp+tls   TLS 1.3, certificate valid until 2"),
                "\(outcome.stdout)")
            let distrusted = try await ProgramRunner.client("doctor", url)
            #expect(distrusted.code == 8)
            #expect(distrusted.stdout.contains("\nfail  tcp+tls   cannot connect"), "\(distrusted.stdout)")
        }
    }

    @Test func aServerThatIsNotTrusted() async throws {
        try await withFront { port, _ in
            let outcome = try await ProgramRunner.client("--json", "tools", "https://localhost:\(port)/mcp")
            #expect(outcome.code == 3)
            #expect(outcome.stdout.isEmpty)
            let lines = outcome.stderr.split(separator: "\n")
            let first =
                "error: cannot connect to localhost:\(port): its certificate was issued by "
                + "CN=swift-mcp-core test CA, which is not trusted here"
            #expect(lines.first.map { String($0) } == first)
            #expect(lines.dropFirst().first == "  nothing was sent")
            #expect(
                lines.dropFirst(2).first?.hasPrefix("hint: if you trust it, pass its certificate") == true)
            #expect(outcome.stderr.contains(#""kind":"cannot_connect","code":3"#))
        }
    }

    @Test func aCertificateForAnotherHost() async throws {
        try await withFront(.other) { port, file in
            let outcome = try await ProgramRunner.client(
                "--cacert", file, "tools", "https://localhost:\(port)/mcp")
            #expect(outcome.code == 3)
            #expect(outcome.stderr.contains("its certificate is for other.example, "))
        }
    }

    @Test func aServerWithoutTLS() async throws {
        let daemon = try DemoDaemon()
        defer { daemon.stop() }
        let outcome = try await ProgramRunner.client("tools", "https://localhost:\(daemon.port)/mcp")
        #expect(outcome.code == 3)
        #expect(outcome.stderr.contains("the server does not use TLS"))
        #expect(outcome.stderr.contains("hint: use http:// if the server uses plain HTTP"))
    }

    /// Nobody may ever write to a named pipe; one of the shell's own is read.
    @Test func aTrustFileThatIsAPipe() async throws {
        let folder = TemporaryDirectory()
        let pipe = folder.path + "/pipe"
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        let url = "https://localhost:1/mcp"
        let reason = "cannot be read: it is a named pipe, not a file\n"
        let named = try await ProgramRunner.client("--cacert", pipe, "tools", url)
        #expect(
            named.code == 2 && named.stderr.contains("the trust file \(pipe) \(reason)"), "\(named.stderr)")
        let variable = try await ProgramRunner.client("tools", url, environment: ["SSL_CERT_FILE": pipe])
        #expect(
            variable.code == 2 && variable.stderr.contains("the file \(pipe) of SSL_CERT_FILE \(reason)"),
            "\(variable.stderr)")
        let device = try await ProgramRunner.client("--cacert", "/dev/zero", "tools", url)
        #expect(device.code == 2 && device.stderr.contains("it is not a regular file"), "\(device.stderr)")
        let empty = try await ProgramRunner.client("tools", url, environment: ["SSL_CERT_FILE": "/dev/null"])
        #expect(empty.code == 3, "\(empty.stderr)")
        try await withFront { port, file in
            let command = #"exec "$0" --cacert <(cat "$1") call "$2" add a=2 b=3"#
            let own = try await ProgramRunner.run(
                "/bin/bash",
                ["-c", command, ProgramRunner.client, file, "https://localhost:\(port)/mcp"])
            #expect(own.code == 0 && own.stdout == "{\"sum\":5}\n", "\(own.stderr)")
        }
    }

    @Test func aTrustFileThatIsNotThere() async throws {
        let outcome = try await ProgramRunner.client(
            "--cacert", "/nowhere/ca.pem", "tools", "https://localhost:1/mcp")
        #expect(outcome.code == 2)
        #expect(outcome.stderr.contains("the trust file /nowhere/ca.pem cannot be read: No such file"))
    }
}
#endif
