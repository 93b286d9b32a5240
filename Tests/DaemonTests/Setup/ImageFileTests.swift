import MCPCore
import Testing

@testable import MCPServerDaemon

/// The Dockerfile.
@Suite struct ImageFileTests {
    private let subject = SetupFile.Subject(
        program: "/usr/local/bin/mcp-server", configuration: "/etc/a&b.jsonc", upstream: "unix:/run/mcp.sock",
        host: "mcp.example.com", bodyBytes: 4_194_304, stopSeconds: 35)

    /// The image has OpenSSL where the configuration needs it.
    @Test(arguments: [
        ("{}", false), (#"{ "mcpServers": { "a": { "url": "http://127.0.0.1:1/mcp" } } }"#, false),
        (#"{ "mcpServers": { "a": { "url": "https://a.example/mcp" } } }"#, true),
    ])
    func opensslInTheImage(configuration: String, isNeeded: Bool) throws {
        var own = subject
        own.needs = try ServiceNeeds.of(configuration, directory: "/srv")
        #expect(SetupFile.docker.text(own).contains("libssl3 ca-certificates") == isNeeded)
    }

    /// The image has what the configuration names, except for secrets, and its user can listen. What is written
    /// relative to the configuration is beside it, and all else at its own place.
    @Test func theImage() throws {
        var own = subject
        own.configuration = "/../srv/conf/mcp.jsonc"
        own.parts = [
            "/../srv/conf/about.md", "/../srv/conf/conf.d/*.jsonc", "/../srv/conf", "/../srv/conf/../x",
            "/../srv/conf/mixed", "/srv/conf/about.md", "/srv/conf/bin/tool", "/srv/docs", "/usr/bin/git",
            "/var/lib/docs",
        ]
        own.patterns = ["/../srv/conf/conf.d/*.jsonc"]
        own.paths = own.parts + ["/run/mcp-x/s.sock", "/../srv/conf/tok/t.json", "/../srv/conf/log/a.jsonl"]
        own.secrets = [
            "/../srv/conf/tokens.json", "/../srv/conf/tok/t.json", "/srv/conf/abs/key",
            "/../srv/conf/mixed/key",
            "/run/secrets/key", "/var/lib/mcp-server/tokens.json",
        ]
        own.secretFolders = ["/run/secrets", "/srv/conf/tok", "/srv/conf/abs"]
        own.needs = try ServiceNeeds.of(
            #"{ "listen": ["unix:///run/mcp-x/s.sock"], "observe": { "log": { "file": "log/x" } } }"#,
            directory: "/../srv/conf")
        let text = SetupFile.docker.text(own)
        let made =
            "/run/mcp /run/mcp-server /var/lib/mcp-server /var/log/mcp-server /run/mcp-x /etc/mcp-server/log\n"
        for lines in [
            "\\\n    && install -d -o mcp -g mcp \(made)",
            """
            COPY about.md /etc/mcp-server/about.md
            COPY about.md /srv/conf/about.md
            COPY bin/tool /srv/conf/bin/tool
            COPY conf.d/*.jsonc /etc/mcp-server/conf.d/
            # The configuration also names these, which the image needs at these places:
            #   /etc/mcp-server/mixed
            #   /etc/x
            #   /srv/docs
            #   /usr/bin/git
            #   /var/lib/docs
            # Secrets
            """,
            // Alone in its folder, written in both ways; beside the configuration; beside other files; in one that
            // the server writes to.
            """
            #   -v /run/secrets:/run/secrets:ro
            #   -v /srv/conf/abs:/srv/conf/abs:ro
            #   -v /srv/conf/mixed/key:/etc/mcp-server/mixed/key:ro
            #   -v /srv/conf/tok:/etc/mcp-server/tok:ro
            #   -v /srv/conf/tokens.json:/etc/mcp-server/tokens.json:ro
            #   -v /var/lib/mcp-server:/var/lib/mcp-server
            # A file
            """,
            "\nVOLUME \(made)",
        ] {
            #expect(text.contains(lines), "\(lines)\n\(text)")
        }
    }

    /// The user of the image is in the groups of the sockets, and the variables that a unit would read from a
    /// file are named.
    @Test func groupsAndVariablesOfTheImage() throws {
        let group = Accounts.groupName(1)
        var own = subject
        own.needs = try ServiceNeeds.of(
            #"""
            { "listen": ["unix:///run/mcp/a.sock?mode=0660&group=1", "unix:///run/mcp/b.sock?group=4123456"],
              "tools": { "t": { "exec": ["true"], "env": { "A": "${KEY}", "B": "${HOME}", "C": "${MORE:-}",
                                                           "D": "${USER}", "E": "${INSTANCE}" } } } }
            """#, ["KEY": "k", "HOME": "/", "USER": "u", "INSTANCE": "i"])
        let text = SetupFile.docker.text(own)
        for lines in [
            """
            # The groups of its sockets, with the numbers that they have here.
            RUN groupadd --force --non-unique --gid 1 \(group) && groupmod --non-unique --gid 1 \(group) \\
                && groupadd --force --non-unique --gid 4123456 group4123456 && groupmod --non-unique \
            --gid 4123456 group4123456 \\
                && useradd --uid 65532 --no-create-home --shell /usr/sbin/nologin --groups \(group),group4123456 mcp \\
                && install -d
            """,
            """
            # Variables of the configuration, for docker run, or --env-file FILE of lines NAME=VALUE:
            #   -e INSTANCE -e KEY -e USER
            #   -e MORE (with defaults)
            ENV XDG_RUNTIME_DIR=/run/mcp
            """,
        ] { #expect(text.contains(lines), "\(lines)\n\(text)") }
        let plain = SetupFile.docker.text(subject)
        #expect(
            plain.contains("\nRUN useradd --uid 65532 --no-create-home --shell /usr/sbin/nologin mcp \\\n"))
        #expect(!plain.contains("group") && !plain.contains("Variables"))
    }

    /// Docker reads the sources of `COPY` as patterns. Those of the configuration stay patterns.
    @Test func namesThatArePatternsForDocker() {
        var own = subject
        own.configuration = "/../srv/conf/a[1].jsonc"
        own.patterns = ["/../srv/conf/d[0]/[!a]?*.jsonc", "/../srv/conf/plain/*.jsonc"]
        own.parts = own.patterns.sorted() + ["/../srv/conf/q?", #"/../srv/conf/b\s"#, "/../srv/conf/docs"]
        own.paths = own.parts
        let text = SetupFile.docker.text(own)
        for line in [
            #"COPY ["a[[]1].jsonc","/etc/mcp-server/mcp.jsonc"]"#,
            #"COPY ["d[[]0]/[^a]?*.jsonc","/etc/mcp-server/d[0]/"]"#,
            "COPY plain/*.jsonc /etc/mcp-server/plain/", "COPY docs /etc/mcp-server/docs",
            #"COPY ["q[?]","/etc/mcp-server/q?"]"#,
            // Docker takes a backslash out of JSON, then for itself, then in the pattern.
            #"COPY ["b[\\\\\\\\]s","/etc/mcp-server/b\\\\s"]"#,
        ] { #expect(text.contains("\n\(line)\n"), "\(line)\n\(text)") }
    }
}
