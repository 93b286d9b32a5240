import MCPCore
import TestSupport
import Testing

/// A response that is longer than a client reads concerns the call that it is for, and no other one.
@Suite(.timeLimit(.minutes(5))) struct LongLineTests {
    /// Responds to `big` with a line of 200,000 characters, and to the first call when `end` is called.
    private static func target(_ opening: String, _ ending: String) -> ClientTarget {
        let script = """
            first=
            while read -r line; do
                id=${line#*\\"id\\":}; id=${id%%[,\\}]*}
                case $line in
                *server/discover*)
                    printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete",' "$id"
                    printf '"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},'
                    printf '"ttlMs":0,"cacheScope":"private"}}\\n' ;;
                *'"name":"first"'*) first=$id ;;
                *'"name":"big"'*)
                    printf '\(opening)' "$id"
                    head -c 200000 /dev/zero | tr '\\0' x
                    printf '\(ending)\\n' "$id" ;;
                *'"name":"end"'*)
                    for one in $first $id; do
                        printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete",' "$one"
                        printf '"content":[{"type":"text","text":"done"}]}}\\n'
                    done ;;
                esac
            done
            """
        return .command("sh", "-c", script)
    }

    private static func connect(_ target: ClientTarget) async throws -> MCPClient {
        var options = ClientOptions()
        options.maxMessageBytes = 100_000
        options.protocol = .exactly(.newest)
        return try await MCPClient.connect(target, options: options)
    }

    @Test(arguments: [
        (#"{"jsonrpc":"2.0","id":%s,"result":{"x":""#, #""}}"#),
        (#"{ "id" : %s , "jsonrpc" : "2.0", "result":""#, #""}"#),
    ])
    func onlyItsCallFails(_ opening: String, _ ending: String) async throws {
        let client = try await Self.connect(Self.target(opening, ending))
        let first = Task { try await client.callTool("first") }
        let error = await clientError { _ = try await client.callTool("big") }
        #expect(error?.kind == .protocolViolation)
        #expect(error?.message.hasSuffix("sent a line of more than 100000 bytes") == true)
        #expect(try await client.callTool("end").text == "done")
        #expect(try await first.value.text == "done")
        await client.close()
    }

    /// Nobody waits for a notification.
    @Test func aNotification() async throws {
        let opening = #"{"jsonrpc":"2.0","method":"notifications/message","params":{"%s":""#
        let client = try await Self.connect(Self.target(opening, #""}}"#))
        let first = Task { try await client.callTool("first") }
        let big = Task { try await client.callTool("big") }
        #expect(try await client.callTool("end").text == "done")
        #expect(try await first.value.text == "done")
        big.cancel()
        await client.close()
    }

    /// Where the beginning does not say whose response it is, nobody waits in vain.
    @Test func theIDAtTheEnd() async throws {
        let ending = #""},"jsonrpc":"2.0","id":%s}"#
        let client = try await Self.connect(Self.target(#"{"result":{"x":""#, ending))
        let first = Task { try await client.callTool("first") }
        #expect(await clientError { _ = try await client.callTool("big") }?.kind == .protocolViolation)
        #expect(await clientError { _ = try await first.value }?.kind == .protocolViolation)
        await client.close()
    }
}
