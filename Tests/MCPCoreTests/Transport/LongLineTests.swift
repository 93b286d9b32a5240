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
                *'"name":"first"'*) first=$id; echo first >&2 ;;
                *'"name":"big"'*)
                    printf '\(opening)' "$id"
                    head -c 200000 /dev/zero | tr '\\0' x
                    printf '\(ending)\\n' "$id"
                    echo big >&2 ;;
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

    private let hasFirst = Gate()
    private let hasBig = Gate()

    /// Connects, and makes a call that waits for the last one.
    private func begin(_ target: ClientTarget) async throws -> (MCPClient, Task<CallToolResult, any Error>) {
        var options = ClientOptions()
        options.maxMessageBytes = 100_000
        options.protocol = .exactly(.newest)
        options.onServerStderr = { [hasFirst, hasBig] line in
            if line == "first" { hasFirst.open() } else { hasBig.open() }
        }
        let client = try await MCPClient.connect(target, options: options)
        let first = Task { try await client.callTool("first") }
        #expect(await hasFirst.wait())
        return (client, first)
    }

    @Test(arguments: [
        (#"{"jsonrpc":"2.0","id":%s,"result":{"x":""#, #""}}"#),
        (#"{ "id" : %s , "jsonrpc" : "2.0", "result":""#, #""}"#),
        (#"{"result":{"x":""#, #""},"jsonrpc":"2.0","id":%s}"#),
        (#"{"jsonrpc":"2.0","result":[""#, #""] , "id": %s } "#),
    ])
    func onlyItsCallFails(_ opening: String, _ ending: String) async throws {
        let (client, first) = try await begin(Self.target(opening, ending))
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
        let (client, first) = try await begin(Self.target(opening, #""}}"#))
        let big = Task { try await client.callTool("big") }
        #expect(await hasBig.wait())
        #expect(try await client.callTool("end").text == "done")
        #expect(try await first.value.text == "done")
        big.cancel()
        await client.close()
    }

    /// Where neither the beginning nor the end says whose response it is, nobody waits in vain.
    @Test(arguments: [#""},"id":%s,"x":{}}"#, #""},"\\"id\\":%s}"#, #""}"id":%s"#, #""},"id":%s}}"#])
    func noIDThatCanBeFound(_ ending: String) async throws {
        let (client, first) = try await begin(Self.target(#"{"result":{"x":""#, ending))
        #expect(await clientError { _ = try await client.callTool("big") }?.kind == .protocolViolation)
        #expect(await clientError { _ = try await first.value }?.kind == .protocolViolation)
        await client.close()
    }
}
