import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct ExpansionTests {
    private func expand(_ value: String) -> (text: ConfigText?, report: [String]) {
        let diagnostics = Diagnostics()
        let context = Expansion.Context(
            environment: ["HOME": "/home/ada", "NAME": "ada", "EMPTY": "", "ODD": "{repo} ${NAME}"],
            configDirectory: "/etc/mcp"
        ) { path throws(ConfigFileError) in
            guard path == "/run/secret" else { throw ConfigFileError(text: "cannot open \(path)") }
            return "hush"
        }
        let node = ConfigNode(
            kind: .string(ConfigText(value: value)), position: SourcePosition(file: "c", line: 3, column: 7))
        let result = Expansion(context, diagnostics: diagnostics).expand(node, path: "server.name")
        guard case .string(let text) = result.kind else { return (nil, []) }
        return (text, diagnostics.sorted.map(\.rendered))
    }

    @Test(arguments: [
        ("plain $5 {x}", "plain $5 {x}"), ("${NAME}", "ada"), ("a-${env:NAME}-b", "a-ada-b"),
        ("$env:NAME", "ada"),
        ("x$env:NAME", "x$env:NAME"), ("${NONE:-dflt}", "dflt"), ("${EMPTY:-dflt}", "dflt"), ("${EMPTY}", ""),
        ("${NONE:-}", ""), ("${userHome}/x", "/home/ada/x"), ("${configDir}/y", "/etc/mcp/y"),
        ("$${NAME}", "${NAME}"),
        ("${input:-dflt}", "dflt"), ("$${${NAME}}", "${ada}"),
        ("${file:/run/secret}", "hush"), ("${ODD}", "{repo} ${NAME}"), ("${NAME}${NAME}", "adaada"),
    ])
    func expandsOnce(value: String, expected: String) {
        let (text, report) = expand(value)
        #expect(text?.value == expected)
        #expect(report == [])
    }

    @Test(arguments: [
        ("${NAMES}", "c:3:7: error: ${NAMES} is not set (used by server.name) (did you mean NAME?)"),
        ("${GITHUB_TOKEN}", "c:3:7: error: ${GITHUB_TOKEN} is not set (used by server.name)"),
        ("${file:/nope}", "c:3:7: error: ${file:/nope}: cannot open /nope (used by server.name)"),
        ("${NAME", "c:3:7: error: ${ without a closing }"), ("${1}", "c:3:7: error: ${1} is unknown"),
        ("${input:x}", "c:3:7: error: ${input:x} is unknown"),
    ])
    func reportsWhatCannotBeResolved(value: String, expected: String) {
        let report = expand(value).report
        #expect(report.count == 1)
        #expect(report.first?.hasPrefix(expected) == true, "\(report)")
    }

    @Test func reportsAllNamesTogether() {
        #expect(expand("${GITHUB_TOKEN}/${GITLAB_TOKEN}").report.count == 2)
    }

    @Test func expandedTextHoldsNoPlaceholder() throws {
        let text = try #require(expand("{repo} ${ODD}").text)
        let template = try TemplateText(text)
        #expect(template.pieces == [.argument("repo"), .literal(" {repo} ${NAME}")])
    }
}
