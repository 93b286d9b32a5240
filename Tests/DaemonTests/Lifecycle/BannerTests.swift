import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct BannerTests {
    @Test func saysWhatRunsAndWhere() {
        var settings = ServerSettings()
        settings.name = "io.example/ops"
        settings.version = "1.4.0"
        let banner = Banner(
            server: settings, contents: ServedContents(tools: 3, directories: 1, prompts: 2),
            isStdio: false,
            addresses: [
                .unix(path: "/run/mcp/ops.sock", mode: 0o600, group: nil),
                .tcp(host: "127.0.0.1", port: 8_808),
            ], startup: .milliseconds(9))
        #expect(
            banner.lines == [
                "mcp-server \(DaemonVersion.current) · ops 1.4.0 · 3 tools, 1 directory of files, 2 prompts",
                "listening  unix:///run/mcp/ops.sock   http://127.0.0.1:8808/mcp     ready in 9 ms",
            ])
    }

    @Test func namesStandardInputAndNothing() {
        let banner = Banner(
            server: ServerSettings(), contents: ServedContents(), isStdio: true, addresses: [],
            startup: .seconds(1))
        #expect(banner.lines[0].hasSuffix(" · nothing to offer"))
        #expect(banner.lines[1] == "serving    stdio     ready in 1000 ms")
    }

    @Test func namesWhatIsOpenBesideStandardInput() {
        let banner = Banner(
            server: ServerSettings(), contents: ServedContents(), isStdio: true,
            addresses: [.tcp(host: "127.0.0.1", port: 8_808)], startup: .seconds(1))
        #expect(banner.lines[1] == "serving    stdio   http://127.0.0.1:8808/mcp     ready in 1000 ms")
    }
}
