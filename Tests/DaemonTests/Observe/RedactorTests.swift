import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

/// What is left out of arguments before they are written down.
@Suite struct RedactorTests {
    private func redacted(_ json: String, _ keys: [String] = []) throws -> String? {
        var settings = RedactionSettings()
        settings.keys = keys
        var line = LineText()
        guard Redactor(settings).append(try RawJSON(validating: json), to: &line) else { return nil }
        return String(decoding: line.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        (#"{"a":1,"b":[true,null,"x"]}"#, #"{"a":1,"b":[true,null,"x"]}"#),
        (#"{ "a" : "b" , "c" : { } }"#, #"{"a":"b","c":{}}"#),
        (#"{"token":"x"}"#, #"{"token":"[redacted]"}"#),
        (#"{"x":{"API_Key": {"a":[1,{"b":"}"}]}},"y":2}"#, #"{"x":{"API_Key":"[redacted]"},"y":2}"#),
        (#"{"password":12,"n":1}"#, #"{"password":"[redacted]","n":1}"#),
        (#"{"password":null}"#, #"{"password":"[redacted]"}"#),
        // An escape does not hide a key.
        (#"{"p\u0061ssword":"x"}"#, #"{"p\u0061ssword":"[redacted]"}"#),
        (#"{"my code":"1"}"#, #"{"my code":"[redacted]"}"#),
        (
            #"{"pin":"1234","card_pin":1,"PIN code":"1"}"#,
            #"{"pin":"[redacted]","card_pin":"[redacted]","PIN code":"[redacted]"}"#
        ),
        (#"{"pinned":true,"spin":1,"ping":2}"#, #"{"pinned":true,"spin":1,"ping":2}"#),
        (
            #"{"passphrase":"x","aws_access_key_id":"y"}"#,
            #"{"passphrase":"[redacted]","aws_access_key_id":"[redacted]"}"#
        ),
        // Texts that look like credentials, wherever they are.
        (#"{"h":["Bearer abcdefghijklmnop"]}"#, #"{"h":["[redacted]"]}"#),
        (#"{"h":"eyJhbGciOiJIUzI1NiJ9.e30.x"}"#, #"{"h":"[redacted]"}"#),
        (#"{"h":"ghp_0123456789abcdef"}"#, #"{"h":"[redacted]"}"#),
        (#"{"h":"use \"mcps_0123456789abcdef\" now"}"#, #"{"h":"[redacted]"}"#),
        (#"{"h":"run with GH=ghp_0123456789abcdef please"}"#, #"{"h":"[redacted]"}"#),
        (#"{"h":"-H 'Authorization: Basic dXNlcjpwYXNzd29yZA=='"}"#, #"{"h":"[redacted]"}"#),
        (#"{"h":"the key:\n-----BEGIN PRIVATE KEY-----\nMIIE"}"#, #"{"h":"[redacted]"}"#),
        (#"{"h":"postgres://app:hunter2@db.example/app"}"#, #"{"h":"[redacted]"}"#),
        (#"{"pass_word":"x","pass phrase":"y"}"#, #"{"pass_word":"[redacted]","pass phrase":"[redacted]"}"#),
        (
            #"{"h":"see the basic requirements of sk-learn-extension"}"#,
            #"{"h":"see the basic requirements of sk-learn-extension"}"#
        ),
        (
            #"{"h":"https://host:8080/a@b and ssh://git@host/x"}"#,
            #"{"h":"https://host:8080/a@b and ssh://git@host/x"}"#
        ),
        (#"{"h":"Bearer of news"}"#, #"{"h":"Bearer of news"}"#),
        (
            #"{"h":"Visual Basic Programming guide, HTTP Basic Authentication, sk-learn-Classifier-v2"}"#,
            #"{"h":"Visual Basic Programming guide, HTTP Basic Authentication, sk-learn-Classifier-v2"}"#
        ),
        (
            #"{"h":"see https://example.com:443,mail=a@b.c now"}"#,
            #"{"h":"see https://example.com:443,mail=a@b.c now"}"#
        ),
        (#"{"quote":"a\"token\":1"}"#, #"{"quote":"a\"token\":1"}"#),
        ("{\"a\":\"x\u{202E}y\u{9B}z\u{7F}\"}", #"{"a":"x\u202ey\u009bz\u007f"}"#),
    ])
    func copies(_ json: String, _ wanted: String) throws {
        #expect(try redacted(json, ["*CODE"]) == wanted)
        _ = try JSONValue(parsing: wanted)
    }

    /// The time grows with the text only, whatever it consists of.
    @Test(arguments: ["sk-", "eyj-", "basic ", "://", ":", "a://a"]) func hostileTexts(_ piece: String) {
        let text = "x " + String(repeating: piece, count: (1 << 20) / piece.utf8.count)
        var isFound = true
        let elapsed = threadTime { isFound = CredentialText.isFound(in: text) }
        #expect(!isFound && elapsed < .seconds(5))
    }

    @Test func manyArgumentsAreOnlyCounted() throws {
        let text = String(repeating: "x", count: Redactor.maxBytes)
        #expect(try redacted("{\"a\":\"\(text)\"}") == nil)
    }

    @Test func aPeerCannotGrowTheTableOfKeys() throws {
        let redactor = Redactor(RedactionSettings())
        for number in 0 ..< 3 * Redactor.maxKnownKeys { #expect(!redactor.isSecret("k\(number)")) }
        #expect(redactor.isSecret("the_token_2"))
    }

    /// Also in names, but not in those of the outer levels of a message; in base64; and whole, with lines that are
    /// too short to be recognized.
    @Test(arguments: [
        (#"{"result":{"a":{"the-first-line":1}}}"#, #"{"result":{"a":{"[redacted]":1}}}"#),
        (
            #"{"result":{"the-first-line":"x the-last-line"}}"#,
            #"{"result":{"the-first-line":"x [redacted]"}}"#
        ),
        (#"["result"]"#, #"["[redacted]"]"#),
        (#"["\#(Base64.encode("ada:the-last-line".utf8))"]"#, #"["YWRhOn[redacted]"]"#),
        (#"["ab\ncd\nef","ab"]"#, #"["[redacted]","ab"]"#),
    ])
    func secretsOfServers(_ json: String, _ wanted: String) throws {
        let secrets = HiddenSecrets()
        secrets.hide(["result", "the-first-line\r\nthe-last-line", "ab\ncd\nef"])
        var line = LineText()
        let redactor = Redactor(RedactionSettings(), hiding: secrets)
        #expect(redactor.append(try RawJSON(validating: json), to: &line, namesFrom: 2))
        let text = String(decoding: line.bytes, as: UTF8.self)
        #expect(text == wanted)
    }

    /// The protocol's own name is no secret, unless the operator says so.
    @Test func theProgressTokenIsShown() throws {
        let message = #"{"_meta":{"progressToken":1},"token":"[redacted]"}"#
        #expect(try redacted(#"{"_meta":{"progressToken":1},"token":"x"}"#) == message)
        #expect(
            try redacted(#"{"progressToken":1}"#, ["*Progress*"]) == #"{"progressToken":"[redacted]"}"#)
    }
}
