import MCPCore
import Testing

/// How servers are read from the files of other programs.
@Suite struct ServerEntryTests {
    private func read(_ members: String) -> (entry: ServerEntry?, problems: [String]) {
        let diagnostics = Diagnostics()
        let text = SourceText(name: "f", text: #"{"mcpServers": {"a": \#(members)}}"#)
        guard let root = JSONCParser.parse(text, into: diagnostics),
            let node = ServerEntryReader.list(in: root)?.value["a"]
        else { return (nil, diagnostics.sorted.map(\.text)) }
        return (ServerEntryReader.read("a", node, into: diagnostics), diagnostics.sorted.map(\.text))
    }

    @Test(arguments: [
        #"{"url": "http://h/mcp"}"#, #"{"type": "http", "url": "http://h/mcp"}"#,
        #"{"baseUrl": "http://h/mcp"}"#, #"{"serverUrl": "http://h/mcp", "transport": "streamable-http"}"#,
        #"{"httpUrl": "http://h/mcp", "transportType": "sse"}"#, #"{"url": "http://h/mcp", "gallery": true}"#,
    ])
    func addressesUnderAllNames(members: String) {
        let (entry, problems) = read(members)
        #expect(entry?.place == .http("http://h/mcp") && problems.isEmpty, "\(problems)")
    }

    @Test func aProgram() throws {
        let entry = try #require(
            read(
                #"{"command": "x", "args": ["-r", "/"], "env": {"A": "b", "N": 5}, "cwd": "/tmp", "type": "stdio"}"#
            )
            .entry)
        #expect(entry.place == .program(["x", "-r", "/"]) && entry.directory == "/tmp" && !entry.isDisabled)
        #expect(entry.environment.map { "\($0.name)=\($0.value)" } == ["A=b", "N=5"])
        #expect(read(#"{"command": "x", "type": "local"}"#).entry?.place == .program(["x"]))
        #expect(read(#"{"command": "x", "disabled": true}"#).entry?.isDisabled == true)
        #expect(read(#"{"command": "x", "enabled": false}"#).entry?.isDisabled == true)
        #expect(read(#"{"url": "http://x"}"#).entry?.place == .http("http://x"))
        #expect(
            read(#"{"url": "unix:///run/s.sock#/x"}"#).entry?.place
                == .unix(path: "/run/s.sock", endpoint: "/x"))
    }

    private static let noHost =
        "has a url that cannot be used: url must have a host, and neither blanks nor letters outside ASCII"

    /// A member that is known and wrong is an error: without it, the server would do something else.
    @Test(arguments: [
        ("{}", "has neither url nor command"), (#""x""#, "must be an object, not a string"),
        (#"{"command": "x", "args": "--x"}"#, "has args that must be an array of strings"),
        (#"{"command": "x", "args": ["--y", 5]}"#, "has args that must be an array of strings"),
        (#"{"command": "x", "arg": ["a"]}"#, #"has an unknown member "arg"; did you mean args?"#),
        (#"{"comand": "x", "command": "y"}"#, #"has an unknown member "comand"; did you mean command?"#),
        (#"{"command": "x", "env": {"A": null}}"#, #"has env whose "A" must be a string"#),
        (#"{"command": "x", "env": {"A=B": "c"}}"#, #"has env whose "A=B" cannot be set"#),
        (#"{"command": "x", "cwd": 1}"#, "has a cwd that must be a string, not a number"),
        (#"{"command": ["x"]}"#, "has a command that must be a string, not an array"),
        (#"{"command": ""}"#, "has an empty command"),
        (#"{"command": "x\u0000y"}"#, "has a command with NUL in it"),
        (#"{"command": "x", "url": "http://h"}"#, "has both command and url"),
        (#"{"command": "x", "type": "http"}"#, #"has the type "http", but a command"#),
        (#"{"url": "http://h/", "type": "stdio"}"#, #"has the type "stdio", but no command"#),
        (#"{"url": "http://h/", "type": "ws"}"#, #"has the unknown type "ws""#),
        (
            #"{"url": "gopher://x"}"#,
            "has a url that cannot be used: url must begin with https://, http:// or unix:///"
        ),
        (#"{"url": "http://"}"#, noHost),
        (#"{"url": "http://a b/"}"#, noHost),
        (#"{"url": "http://h/", "headers": ["a"]}"#, "has headers that must be an object, not an array"),
        (#"{"url": "http://h/", "headers": {"A": "b\nc"}}"#, #"has headers whose "A" cannot be sent"#),
        (
            #"{"url": "http://h/", "envFile": ".env"}"#,
            "has envFile, but no command"
        ),
        (#"{"url": "http://h/", "oauth": "x"}"#, "has oauth that must be an object, not a string"),
        (
            #"{"command": "x", "oauth": {"clientId": "c"}}"#,
            "has oauth, but a command: programs get credentials from env"
        ),
        (#"{"url": "http://h/", "oauth": {"clientId": 1}}"#, "has oauth with a clientId that is not a text"),
        (#"{"url": "http://h/", "oauth": {"scopes": [1]}}"#, "has oauth with scopes that are not strings"),
        (
            #"{"url": "http://h/", "oauth": {"callbackPort": 70000}}"#,
            "has oauth with a callbackPort that is not a port"
        ),
        (
            #"{"url": "http://h/", "oauth": {"callbackPort": []}}"#,
            "has oauth with a callbackPort that is not a port"
        ),
        (
            #"{"url": "http://h/", "oauth": {"clientSecret": "s"}}"#,
            "has oauth with a secret, but no clientId"
        ),
        (
            #"{"url": "http://h/", "oauth": {"authServerMetadataUrl": "https://x"}}"#,
            #"has oauth with "authServerMetadataUrl", which is not supported"#
        ),
        (#"{"command": "x", "disabled": "yes"}"#, "has a disabled that must be true or false, not a string"),
    ])
    func whatIsWrongIsSaid(members: String, problem: String) {
        let (entry, problems) = read(members)
        #expect(entry == nil)
        #expect(problems.contains(#"the server "a" \#(problem)"#), "\(problems)")
    }

    @Test(arguments: [
        #"{"clientId": "c", "clientSecret": "s", "scopes": ["a", "b"], "issuer": "https://i", "callbackPort": 7}"#,
        #"{"client_id": "c", "client_secret": "s", "scope": "a b", "issuer": "https://i", "callback_port": 7}"#,
    ])
    func howToLogIn(members: String) throws {
        let entry = try #require(read(#"{"url": "http://h/", "oauth": \#(members)}"#).entry)
        let login = try #require(entry.login)
        #expect(login.clientID == "c" && login.clientSecret == "s" && login.scopes == ["a", "b"])
        #expect(login.issuer == "https://i" && login.callbackPorts == [7])
        #expect(read(#"{"url": "http://h/", "oauth": true}"#).entry?.login == nil)
        let several = read(#"{"url": "http://h/", "oauth": {"callbackPort": [7, 8]}}"#)
        #expect(several.entry?.login?.callbackPorts == [7, 8])
    }

    @Test func theListHasTwoNames() {
        let diagnostics = Diagnostics()
        for (text, key) in [
            (#"{"servers": {}}"#, "servers"), (#"{"mcpServers": {}, "servers": {}}"#, "mcpServers"),
        ] {
            let root = JSONCParser.parse(SourceText(name: "f", text: text), into: diagnostics)
            #expect(root.flatMap { ServerEntryReader.list(in: $0) }?.key == key)
        }
    }
}
