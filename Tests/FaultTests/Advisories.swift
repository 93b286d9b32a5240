/// A security advisory of another MCP implementation, and the test that shows that this one does not have
/// the flaw.
struct AdvisoryRow: Sendable {
    /// The advisory's id; where there is none, the project with the commit or issue.
    let name: String
    /// What went wrong there.
    let flaw: String
    let tests: [String]
    /// Why no test here; nil when there are tests.
    let reason: String?

    init(_ name: String, _ flaw: String, _ tests: String...) {
        self.name = name
        self.flaw = flaw
        self.tests = tests
        reason = nil
    }

    init(_ name: String, _ flaw: String, because reason: String) {
        self.name = name
        self.flaw = flaw
        tests = []
        self.reason = reason
    }
}

enum Advisories {
    static let rows: [AdvisoryRow] = access + messages + sessions + transports + later

    private static let rebinding = "no protection against DNS rebinding by default"

    private static let access: [AdvisoryRow] = [
        AdvisoryRow("CVE-2025-66414", rebinding, "Advisory_CVE_2025_66414"),
        AdvisoryRow("CVE-2025-66416", rebinding, "Advisory_CVE_2025_66414"),
        AdvisoryRow("CVE-2026-34742", rebinding, "Advisory_CVE_2025_66414"),
        AdvisoryRow("GHSA-8jxr-pr72-r468 (CVE-2026-35568)", rebinding, "Advisory_CVE_2025_66414"),
        AdvisoryRow(
            "CVE-2026-42559", "an empty list of origins meant that all are allowed", "Advisory_CVE_2026_42559"
        ),
        AdvisoryRow(
            "GHSA-89xv-2j6f-qhc8", "a cross-site POST of text/plain ran tools", "Advisory_GHSA_89xv_2j6f_qhc8"
        ),
        AdvisoryRow(
            "CVE-2026-59950", "a transport without Host and Origin checks", "Advisory_CVE_2026_59950"),
        AdvisoryRow(
            "CVE-2025-49596", "a local endpoint that spawns programs by request", "Advisory_CVE_2025_49596"),
    ]

    private static let messages: [AdvisoryRow] = [
        AdvisoryRow(
            "this project, before 1.0", "the exponent -9223372036854775808 ended every process that read it",
            "Advisory_Number"),
        AdvisoryRow("CVE-2026-27896", "keys matched without regard to case", "Advisory_CVE_2026_27896"),
        AdvisoryRow(
            "GHSA-q382-vc8q-7jhj", "keys with a trailing NUL, duplicates", "Advisory_GHSA_q382_vc8q_7jhj"),
        AdvisoryRow("CVE-2026-0621", "templates that take exponential time", "Advisory_CVE_2026_0621"),
        AdvisoryRow("go-sdk be0bd77, b34ba21", "crash on null or missing params", "Advisory_go_be0bd77"),
        AdvisoryRow("python-sdk #2328", "one invalid byte ended the stdio server", "Advisory_python_2328"),
        AdvisoryRow("python-sdk #1269", "HEAD ended a session", "Advisory_python_1269"),
        AdvisoryRow(
            "rmcp #825, TypeScript servers #4206", "a malformed line ended the server", "Advisory_rmcp_825"),
        AdvisoryRow(
            "swift-sdk #277", "texts that look like data: addresses were altered", "Advisory_swift_277"),
    ]

    private static let sessions: [AdvisoryRow] = [
        AdvisoryRow(
            "CVE-2026-25536", "an answer went to another client with the same id", "Advisory_CVE_2026_25536"),
        AdvisoryRow("swift-sdk #254, #265", "waiters kept by the client's id", "Advisory_CVE_2026_25536"),
        AdvisoryRow("CVE-2026-52869", "a session served another principal", "Advisory_CVE_2026_52869"),
        AdvisoryRow("CVE-2026-33946", "a session id could be replayed by anybody", "Advisory_CVE_2026_52869"),
        AdvisoryRow(
            "CVE-2026-52870", "any client could cancel the work of others", "Advisory_CVE_2026_52870"),
        AdvisoryRow("CVE-2025-6515", "session ids that can be guessed", "Advisory_CVE_2025_6515"),
        AdvisoryRow(
            "GHSA-9pj6-vhgr-3mwh", "a table of sessions that anybody could fill",
            "Advisory_GHSA_9pj6_vhgr_3mwh"),
    ]

    private static let transports: [AdvisoryRow] = [
        AdvisoryRow(
            "go-sdk 7f67c85, python-sdk #3095, #3336", "bodies without a limit", "Advisory_go_7f67c85"),
        AdvisoryRow("Mac-MLX #45", "SIGPIPE ended the program", "Advisory_MacMLX_45"),
        AdvisoryRow(
            "GHSA-mgc4-wqv7-4pxm (SwiftNIO)", "smuggling by Transfer-Encoding", "Advisory_GHSA_mgc4_wqv7_4pxm"
        ),
        AdvisoryRow(
            "CVE-2026-28980 (SwiftNIO)", "no limit on the number and size of fields",
            "Advisory_CVE_2026_28980"),
        AdvisoryRow("rmcp 66712db", "tokens in debug output", "Advisory_rmcp_66712db"),
    ]

    private static let later: [AdvisoryRow] = [
        AdvisoryRow(
            "typescript-sdk 65bbceab7", "tasks leaked across sessions",
            because: "tasks are not offered by this version"),
        AdvisoryRow(
            "go-sdk ba1496a", "a request's log level leaked to others",
            because: "logging is not offered by this version"),
        AdvisoryRow(
            "GHSA-9g45-5xwm-f3wc", "headers followed a redirect to another origin",
            because:
                "the client's tests show it: HTTPClientTransportTests, credentialsGoNowhereElse; fault 68"
        ),
        AdvisoryRow(
            "go-sdk 3d6450f", "closing hung when nobody answered DELETE",
            because: "the client's own tests show it: HTTPClientTransportTests, deleteDoesNotHang"),
        AdvisoryRow(
            "swift-sdk #256", "the client spun after its server had died",
            because: "the client's own tests show it: StdioClientTransportTests"),
        AdvisoryRow(
            "GHSA-33f5-2c5q-wgwj", "protected-resource metadata not validated",
            because: "OAuth is not in this version"),
        AdvisoryRow(
            "CVE-2025-6514", "an authorization address was handed to a shell",
            because: "OAuth is not in this version"),
        AdvisoryRow(
            "mcp-remote 1fa5033, afc69e8, dbbac4d", "readable tokens, open callback, logged headers",
            because: "OAuth is not in this version; masked headers are row rmcp 66712db"),
        AdvisoryRow(
            "GHSA-c2jp-c369-7pvx, CVE-2025-62800, CVE-2025-62801", "confused deputy, XSS, command injection",
            because: "OAuth, its callback page and an installer are not in this version"),
        AdvisoryRow(
            "CVE-2025-58444", "XSS by an address that a server sent",
            because:
                "there is no page; text for the terminal is escaped: ClientCLITests, TerminalTextTests"
        ),
        AdvisoryRow(
            "CVE-2025-53110", "a prefix was taken for a directory",
            because: "the files' own tests show it: RootDirectoryTests and DirectoryResourcesTests"),
        AdvisoryRow(
            "CVE-2025-53109", "a symbolic link led out of the root",
            because: "the files' own tests show it: RootDirectoryTests and DirectoryResourcesTests"),
        AdvisoryRow(
            "CVE-2025-68143, CVE-2026-27735, git server ae40ec23",
            "paths outside the root, arguments as options",
            because: "the commands' own tests show it: CommandTemplateTests and ExecReaderTests"),
    ]
}
