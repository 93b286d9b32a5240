import TestSupport
import Testing

/// Every row of docs/limits.md that is about the core is what the code has, and every limit acts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LimitTests {
    struct Area: Sendable, CustomTestStringConvertible {
        let section: String
        let proofs: [LimitProof]

        var testDescription: String { section }
    }

    static let areas = [
        Area(section: "Messages", proofs: LimitProofs.messages),
        Area(section: "Work", proofs: LimitProofs.work),
        Area(section: "Tasks", proofs: LimitProofs.tasks),
        Area(section: "Client", proofs: LimitProofs.client),
        Area(section: "Changes and streams", proofs: LimitProofs.streams),
        Area(section: "Shared state", proofs: LimitProofs.sharedState),
        Area(section: "HTTP", proofs: LimitProofs.http),
        Area(section: "Authorization", proofs: LimitProofs.authorization),
        Area(section: "Memory", proofs: LimitProofs.memory),
        Area(section: "Upstreams", proofs: LimitProofs.upstreams),
        Area(section: "Client tools", proofs: LimitProofs.clientTools + LimitProofs.toolStreams),
        Area(section: "Schemas", proofs: LimitProofs.schemas),
        Area(section: "Access tokens", proofs: LimitProofs.accessTokens),
        Area(section: "Logins", proofs: LimitProofs.logins),
        Area(section: "Files and redirects of logins", proofs: LimitProofs.loginFiles),
    ]

    /// Proven in `MCPHarnessTests`, `MCPAppsTests`, `MCPFoundationTests`, and in `ClientCLITests`, where the page
    /// of `mcp-client host` is.
    static let elsewhere = ["Models", "Views", "The page of views", "Foundation"]

    @Test(arguments: areas) func thePageSaysWhatIsProven(_ area: Area) throws {
        #expect(try LimitPage("limits").differences(in: area.section, area.proofs) == [])
    }

    @Test func everyTableHasItsProofs() throws {
        #expect(Set(try LimitPage("limits").sections) == Set(Self.areas.map(\.section) + Self.elsewhere))
    }

    @Test(.ownThreads, arguments: areas.flatMap(\.proofs)) func acts(_ proof: LimitProof) async throws {
        try await proof.acts()
    }

    // MARK: The comparison itself

    @Test func aPageIsComparedCellByCell() {
        let page = LimitPage(
            text: """
                ## One

                | limit | default | outcome |
                |---|---|---|
                | a | 640 | x |
                | b | 2 s | x |

                | key | meaning |
                |---|---|
                | c | 5 |
                """)
        let nothing: @Sendable () async throws -> Void = {}
        #expect(page.sections == ["One"])
        #expect(
            page.differences(in: "One", [LimitProof("a", "640", nothing), LimitProof("b", "2 s", nothing)])
                == [])
        #expect(
            page.differences(in: "One", [LimitProof("a", "64", nothing), LimitProof("b", "2 s", nothing)])
                == ["nothing proves | a | 640 |", "no row says | a | 64 |"])
        #expect(page.differences(in: "Two", []) == ["Two has no table of limits"])
        #expect(LimitText.grouped(10_000_000) == "10,000,000" && LimitText.grouped(999) == "999")
        #expect(LimitText.bytes(4 << 20) == "4 MiB" && LimitText.bytes(256) == "256 bytes")
    }
}

/// What proves the tables of docs/limits.md, by area.
enum LimitProofs {}
