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
    /// The time for a request: that of a reload of a large configuration.
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

    /// Whether something is there: a server, or one that this user may not ask.
    var isAnswered: Bool {
        get async {
            do throws(Failure) {
                _ = try await send("GET", "/readyz")
                return true
            } catch {
                return !error.isMissing
            }
        }
    }

    /// Sends a GET, or a POST without content, and waits for the answer.
    func send(_ method: String, _ target: String) async throws(Failure) -> Answer {
        guard case .unix(let path, _, _) = address else {
            throw Failure(
                text: "\(address.shown) serves health and metrics only",
                hint: "set admin.listen to a unix socket to control the server")
        }
        do throws(ClientError) {
            return try await HTTPFetch(
                unixPath: path, target: target, timeout: Self.timeout, maxBodyBytes: Self.maxBytes
            ).send(body: method == "POST" ? [] : nil)
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: ClientError) -> Failure {
        switch (error.kind, Int32(error.connectErrno)) {
        case (_, ENOENT), (_, ECONNREFUSED):
            Failure(
                text: "no server is running at \(address.shown)\(alternatives)", hint: hintIfMissing,
                isMissing: true)
        case (_, EACCES), (_, EPERM):
            Failure(
                text: "\(address.shown) belongs to another user",
                hint: "run the command as the user of the server, or as root")
        case (.timeout, _):
            Failure(
                text: "the server did not answer within \(Self.timeout.components.seconds) s",
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
