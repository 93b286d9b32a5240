import MCPCore
import TestSupport
import Testing

/// The inputs of `Corpus` and `Regressions`, without a fuzzer: each target runs all of its own.
@Suite struct ReplayTests {
    @Test("no input of the corpus is a finding", arguments: FuzzTarget.allCases)
    func replay(_ target: FuzzTarget) async throws {
        let inputs = try FuzzInput.all(of: target)
        try #require(!inputs.isEmpty, "Tests/Fuzz/Corpus/\(target.rawValue) is empty")
        let findings = await onThread {
            let check = target.makeCheck()
            return inputs.compactMap { input -> String? in
                do {
                    try check(input.bytes)
                    return nil
                } catch {
                    return "\(input.path): \(error)"
                }
            }
        }
        for finding in findings { Issue.record("\(finding)") }
    }
}

/// An input in a file of this repository.
struct FuzzInput: Sendable {
    let path: String
    let bytes: [UInt8]

    static func all(of target: FuzzTarget) throws -> [FuzzInput] {
        try ["Corpus", "Regressions"].flatMap { kind -> [FuzzInput] in
            let folder = "\(RepositoryFile.root)/Tests/Fuzz/\(kind)/\(target.rawValue)"
            guard let names = try? Files.names(in: folder) else { return [] }
            return try names.names.sorted().map { name in
                FuzzInput(
                    path: "\(kind)/\(target.rawValue)/\(name)",
                    bytes: try Files.read("\(folder)/\(name)", maxBytes: 1 << 20))
            }
        }
    }
}
