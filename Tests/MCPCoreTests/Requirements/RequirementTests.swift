import TestSupport
import Testing

/// Every requirement has a test, or a reason why it has none.
@Suite struct RequirementTests {
    private let scan = TestScan.shared

    @Test(.ownThreads) func theTableIsRead() {
        #expect(Requirements.unreadable == [])
        #expect(Requirements.all.count == 585)
        #expect(Requirements.byID.count == Requirements.all.count)
        for section in Requirements.sections {
            for (place, requirement) in section.requirements.enumerated() {
                let number = place + 1
                #expect(requirement.id == "\(section.prefix)-\(number < 10 ? "0" : "")\(number)")
                #expect(["server", "client", "both"].contains(requirement.side))
            }
        }
    }

    @Test func everyRequirementHasATestOrAReason() {
        var missing: [String] = []
        for requirement in Requirements.all {
            let reason = Requirements.reasonByID[requirement.id]
            if scan.tests[requirement.id] != nil {
                #expect(reason?.isPartial ?? true, "\(requirement.id) has tests, and a reason to have none")
            } else if reason != nil {
                #expect(
                    reason?.isPartial == false, "\(requirement.id) is partly tested, and no test names it")
            } else {
                missing.append(requirement.id)
            }
        }
        #expect(missing == [], "\(missing.count) requirements have neither a test nor a reason")
    }

    @Test func everyIDExists() {
        for (id, place) in scan.mentions { #expect(Requirements.byID[id] != nil, "\(place): \(id)") }
        for reason in Requirements.reasons { #expect(Requirements.byID[reason.id] != nil, "\(reason.id)") }
    }

    @Test func everyReasonIsOne() {
        #expect(Requirements.reasonByID.count == Requirements.reasons.count)
        for reason in Requirements.reasons { #expect(reason.text.count > 30, "\(reason.id)") }
    }

    @Test func thePageIsUpToDate() throws {
        let text = RequirementDocument.text(scan)
        let isUpToDate = try RepositoryFile.isUpToDate("docs/requirements.md", text)
        #expect(isUpToDate, "docs/requirements.md is out of date: run make docs")
    }

    // MARK: The scan itself

    @Test func nothingHidesFromTheScan() {
        #expect(scan.unseen == [])
        #expect(scan.tests.values.reduce(0) { $0 + $1.count } > 300)
    }

    @Test func whatNames() {
        let text = #"""
            /// All of it: SEC-01.
            @Suite(.serialized) struct OneTests {
                // TOOL-01, see https://example.com/TOOL-09
                @Test(arguments: [
                    1, 2,
                ]) func first(_ number: Int) {
                    // TOOL-02 to TOOL-04: why
                    let text = "// TOOL-10"
                }

                static let rows = [
                    // TOOL-05
                    1,
                ]
                static let unused = [2]  // TOOL-06

                @Test("name", .timeLimit(.minutes(5)))
                func second() async throws {  // TOOL-07
                }

                @Test(arguments: rows + [3]) func third(_ row: Int) {}

                // TOOL-08
                func helper() {}
            }

            // TOOL-08
            struct Helper {}
            """#
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let scan = TestScan(text: lines.joined(separator: "\n"))
        #expect(
            scan.tests == [
                "SEC-01": ["OneTests"], "TOOL-01": ["OneTests.first"], "TOOL-02": ["OneTests.first"],
                "TOOL-03": ["OneTests.first"], "TOOL-04": ["OneTests.first"], "TOOL-05": ["OneTests.third"],
                "TOOL-07": ["OneTests.second"], "TOOL-09": ["OneTests.first"],
            ])
        #expect(scan.mentions.filter { $0.id == "TOOL-08" }.count == 2)
        #expect(scan.mentions.contains { $0.id == "TOOL-06" })
        let inner = #"""
            extension A {
                @Suite struct B {
                    // TOOL-01
                    @Test func c() {}
                }
            }
            """#
        let nested = TestScan(text: inner)
        #expect(nested.tests == ["TOOL-01": ["B.c"]])
        #expect(nested.unseen == [])
        #expect(
            TestScan(text: "struct A {\n    struct B {\n        @Test func c() {}\n    }\n}").unseen.count
                == 1)
    }
}
