import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// One request to the address for operators of a running server.
struct AdminClient {
    /// The time for a request, other than a reload, which takes as long as a start of the server.
    static let timeout = Duration.seconds(30)
    /// The greatest size of the body of an answer.
    static let maxBytes = 16 << 20

    typealias Answer = HTTPFetch.Response

    /// The reason why there is no answer, and what to do.
    struct Failure: Error {
        var text: String
        var hint: String
        /// Whether no server is there.
        var isMissing = false
    }

    let address: ConfiguredAddress
    /// What to do if no server is there.
    var hintIfMissing = "compare the address with the one that the server prints at its start"
    /// Further addresses at which no server is, for the message.
    var alternatives = ""

    /// The request that any address answers.
    static let readiness = "/readyz"

    /// Whether the address is a unix socket. Any user of the host can connect to a port, which therefore
    /// serves health and metrics only.
    var mayControl: Bool {
        if case .unix = address { true } else { false }
    }

    /// Whether something is there: a server, or one that this user may not ask.
    var isAnswered: Bool {
        get async {
            do throws(Failure) {
                _ = try await send("GET", Self.readiness)
                return true
            } catch {
                return !error.isMissing
            }
        }
    }

    /// Sends a GET, or a POST without content, and waits for the answer.
    func send(
        _ method: String, _ target: String, within timeout: Duration = Self.timeout
    ) async throws(Failure) -> Answer {
        guard mayControl || target == Self.readiness else {
            throw Failure(
                text: "\(address.text) serves health and metrics only",
                hint: "set admin.listen to a unix socket to control the server")
        }
        do throws(ClientError) {
            return try await fetch(target, within: timeout).send(body: method == "POST" ? [] : nil)
        } catch {
            throw failure(error, after: timeout)
        }
    }

    private func fetch(_ target: String, within timeout: Duration) throws(ClientError) -> HTTPFetch {
        guard case .unix(let path, _, _) = address else {
            return try HTTPFetch(
                url: "http://\(address.text)\(target)", timeout: timeout, maxBodyBytes: Self.maxBytes)
        }
        return try HTTPFetch(
            unixPath: path, target: target, timeout: timeout, maxBodyBytes: Self.maxBytes)
    }

    private func failure(_ error: ClientError, after timeout: Duration) -> Failure {
        switch (error.kind, Int32(error.connectErrno)) {
        case (_, ENOENT), (_, ECONNREFUSED):
            Failure(
                text: "no server is running at \(address.text)\(alternatives)", hint: hintIfMissing,
                isMissing: true)
        case (_, EACCES), (_, EPERM):
            Failure(
                text: "\(address.text) belongs to another user",
                hint: "run the command as the user of the server, or as root")
        case (.timeout, _):
            Failure(
                text: "the server did not answer within \(Units.describe(timeout))",
                hint: "its log shows whether it is stuck")
        case (.protocolViolation, _):
            Failure(
                text: "the answer is not that of a server's address for operators",
                hint: "compare admin.listen with the address that the server prints at its start")
        case (.connectionClosed, _):
            Failure(text: "the server closed the connection", hint: "look at its log")
        default:
            Failure(
                text: error.message, hint: error.hint ?? "mcp-server check shows whether the address is right"
            )
        }
    }
}
