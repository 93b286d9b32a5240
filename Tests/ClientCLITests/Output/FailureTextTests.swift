import MCPCore
import Testing

@testable import MCPClientCLI

struct FailureTextTests {
    private let failure: Failure = {
        var failure = Failure(
            code: .authentication, kind: .authRequired, message: "401 from http://x/mcp: needs a token",
            details: ["scope \"tools:read\""], hint: "--bearer-env VAR", status: 401)
        failure.rpc = nil
        return failure
    }()

    @Test func linesForAPerson() {
        #expect(
            FailureText.lines(failure, style: Style(isOn: false)) == """
                error: 401 from http://x/mcp: needs a token
                  scope "tools:read"
                hint: --bearer-env VAR

                """)
    }

    @Test func oneLineForAProgram() {
        #expect(
            FailureText.json(failure)
                == #"{"error":{"kind":"auth_required","code":4,"message":"401 from http://x/mcp: needs a token","details":["scope \"tools:read\""],"status":401,"hint":"--bearer-env VAR"}}"#
                + "\n")
    }

    /// Scripts rely on these numbers.
    @Test func exitCodesNeverChange() {
        #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 130])
    }

    /// The query of an address may be a key.
    @Test func addressesInErrorsAreMasked() throws {
        for (text, shown) in [
            (
                "http://h/mcp?key=qsecret requires an access token",
                "http://h/mcp?key=*** requires an access token"
            ),
            ("GET https://u:p@h/a?k=s: HTTP 404", "GET https://***@h/a?k=***: HTTP 404"),
            ("(see HTTP://h/a?k=s)", "(see HTTP://h/a?k=***)"),
            ("to http://h/?key=[redacted] (HTTP 307)", "to http://h/?key=*** (HTTP 307)"),
            ("[http://[::1]/a?k=s], http://[::1].", "[http://[::1]/a?k=***], http://[::1]."),
            ("http://h/a and http://h/b#s", "http://h/a and http://h/b#***"),
            ("unix:///x?y and ://", "unix:///x?y and ://"), ("", ""),
        ] {
            #expect(MaskedText.urls(in: text) == shown)
        }
        let error = AuthorizationError(.usage, "http://h/mcp?key=qsecret requires an access token")
        let failure = FailureMapping.authorization(error, status: 401, Options(), login: nil)
        #expect(failure.message == "http://h/mcp?key=*** requires an access token")
    }

    /// The description of an error has its details and its hint in lines of their own.
    @Test func descriptionsOfSeveralLines() {
        let failure = Failure(describing: "it failed\n  more\nhint: try again", hint: "another")
        #expect(failure.message == "it failed" && failure.details == ["more"] && failure.hint == "try again")
        #expect(Failure(describing: "it failed", hint: "another").hint == "another")
    }
}
