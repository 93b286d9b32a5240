import MCPCore
import TestSupport
import Testing

/// The scripts that tell the date and the version of a source, with and without git.
@Suite struct SourceTests {
    @Test("a source without git has the date of its commit, or of its newest release")
    func sourceDates() throws {
        let folder = TemporaryDirectory()
        let to = folder.path + "/Tools/dist/date.sh"
        try Script.run(["mkdir", "-p", "\(folder.path)/Tools/dist"])
        try Script.run(["cp", "\(RepositoryFile.root)/Tools/dist/date.sh", to])
        func date(_ variables: String...) throws -> String {
            // Not executed itself: a child of another test may still hold it open for writing.
            try Script.run(["env", "-u", "SOURCE_DATE_EPOCH"] + variables + ["bash", to])
        }
        try folder.write("CHANGELOG.md", "# Changes\n\n## 0.1.0 (unreleased)\n")
        #expect(try date() == "")
        try folder.write(
            "CHANGELOG.md", "## 0.3.0 (unreleased)\n\n## 0.2.0 (2024-02-29)\n\n## 0.1.0 (2023-01-01)\n")
        #expect(try date() == "1709164800\n")
        #expect(try date("SOURCE_DATE_EPOCH=7") == "7\n")
        for wrong in ["abc", "-1", "7 8", "123456789012345678901"] {
            let error = #expect(throws: Script.Failure.self) { try date("SOURCE_DATE_EPOCH=\(wrong)") }
            #expect(error?.output.contains("SOURCE_DATE_EPOCH=\(wrong) is not a number of seconds") == true)
        }
        // As in a tarball of `git archive`.
        let text = try RepositoryFile.text("Tools/dist/date.sh")
        #expect(text.contains("archived='$Format:%ct$'"))
        #expect(try RepositoryFile.text(".gitattributes").contains("Tools/dist/date.sh export-subst\n"))
        try folder.write("Tools/dist/date.sh", text.replacing("$Format:%ct$", with: "1785230400"))
        #expect(try date() == "1785230400\n")
    }

    @Test("scripts find their source whatever CDPATH the user has")
    func searchPathOfFolders() throws {
        let folder = TemporaryDirectory()
        try Script.shell(
            #"""
            for clone in one two; do
                mkdir -p "$1/$clone/Tools" "$1/$clone/Sources/MCPCore/Protocol"
                cp -R "$0/Tools/dist" "$1/$clone/Tools/"
                echo '    static let current = "1.0.0"' >"$1/$clone/Sources/MCPCore/Protocol/PackageVersion.swift"
            done
            sed -i.bak 's/1.0.0/2.0.0/' "$1/two/Sources/MCPCore/Protocol/PackageVersion.swift"
            """#, RepositoryFile.root, folder.path)
        for path in [".", "\(folder.path)/two", ".:\(folder.path)/two"] {
            func run(_ script: String) throws -> String {
                try Script.shell(
                    #"cd "$0/one" && export CDPATH="$1" && bash "Tools/dist/$2""#, folder.path, path, script)
            }
            #expect(try run("version.sh") == "1.0.0\n")
            #expect(try !run("link.sh").contains("\n"))
        }
        #expect(try Script.run(["ls", folder.path]) == "one\ntwo\n")
    }

    @Test(
        "a tag needs the version and the date of the change log", .enabled(if: isWanted("git")),
        arguments: [
            ("(2026-11-27)", true), ("(2026-01-01)", true), ("(unreleased)", false),
            ("(some-time-soon)", false),
            ("(27-11-2026)", false), ("(2026-13-01)", false), ("(2026-11-27) again", false), ("", false),
        ])
    func tag(date: String, isDate: Bool) throws {
        let folder = TemporaryDirectory()
        try Script.shell(
            #"""
            mkdir -p "$1/Tools" "$1/Sources/MCPCore/Protocol"
            cp -R "$0/Tools/dist" "$1/Tools/"
            cp "$0/Sources/MCPCore/Protocol/PackageVersion.swift" "$1/Sources/MCPCore/Protocol/"
            cd "$1"
            git init -q .
            git add -A
            git -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false commit -q -m first
            """#, RepositoryFile.root, folder.path)
        let version = PackageVersion.current
        try folder.write("CHANGELOG.md", "# Changes\n\n## \(version) \(date)\n")
        func check(_ tag: String) throws -> String {
            try Script.run([
                "env", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=color.ui", "GIT_CONFIG_VALUE_0=always", "bash",
                "\(folder.path)/Tools/dist/check-version.sh", tag,
            ])
        }
        if isDate {
            #expect(try check("v\(version)") == "version: \(version)\n")
            #expect(throws: Script.Failure.self) { try check("v9.9.9") }
            // A name is one, whatever make and the shell would do with it.
            try Script.run(["cp", "\(RepositoryFile.root)/Makefile", folder.path])
            for (tag, isRight) in [
                ("v\(version)", true), ("", true), ("v\(version); touch made", false),
                ("v\(version)$(shell touch made)", false), ("v\(version)'$(touch made)", false),
                ("v\(version)`touch made`", false),
            ] {
                let outcome = try Script.outcome([
                    "make", "-s", "-C", folder.path, "check-version", "TAG=\(tag)",
                ])
                #expect((outcome.code == 0) == isRight, "\(tag)\n\(outcome.errors)")
                #expect(
                    isRight || outcome.errors.contains("the tag is \(tag), the version"), "\(outcome.errors)")
                #expect(try !Script.run(["ls", folder.path]).contains("made"), "\(tag)")
            }
            let more = try Script.outcome(
                ["bash", "\(folder.path)/Tools/dist/check-version.sh", "", "v9.9.9"])
            #expect(more.code == 2 && more.errors == "usage: check-version.sh [TAG]\n")
        } else {
            let error = #expect(throws: Script.Failure.self) { try check("v\(version)") }
            #expect(error?.output.contains("has no date") == true)
        }
    }

    @Test("what git says of a clone that it does not read is shown", .enabled(if: isWanted("git")))
    func unreadableClone() throws {
        let folder = TemporaryDirectory()
        try Script.shell(
            #"""
            mkdir -p "$1/Tools" "$1/Tests" "$1/Sources/MCPCore/Protocol" "$1/.git"
            cd "$0"
            cp -R Tools/dist Tools/lint.sh "$1/Tools/"
            cp Tests/demo.sh "$1/Tests/"
            cp CHANGELOG.md "$1/"
            cp Sources/MCPCore/Protocol/PackageVersion.swift "$1/Sources/MCPCore/Protocol/"
            """#, RepositoryFile.root, folder.path)
        func outcome(_ script: String, _ arguments: String...) throws -> (code: Int32, errors: String) {
            // As of a clone of another user, it fails with a reason.
            let outcome = try Script.outcome(
                ["env", "-u", "SOURCE_DATE_EPOCH", "GIT_DIR=\(folder.path)/none", "bash"]
                    + ["\(folder.path)/\(script)"] + arguments)
            return (outcome.code, outcome.errors)
        }
        let reason = "fatal: not a git repository: '\(folder.path)/none'\n"
        for script in [
            "Tools/dist/check-version.sh", "Tools/dist/build.sh", "Tools/lint.sh", "Tests/demo.sh",
        ] {
            let (code, errors) = try outcome(script, folder.path)
            #expect(code == 1 && errors.hasPrefix(reason) && errors.contains("needs a clone"), "\(script)")
        }
        // The change log may have a date, and a page without one is still a page.
        let (code, errors) = try outcome("Tools/dist/date.sh")
        #expect(code == 0 && errors.hasPrefix(reason) && errors.contains("SOURCE_DATE_EPOCH"))
    }
}
