import MCPCore

/// Reads `prompts` and the Markdown files of its directory.
struct PromptReader {
    /// The largest number of files; a directory with more is not a collection of prompts.
    static let maxFiles = 1_000

    let context: ConfigContext

    /// Returns whether a name in the directory is that of a prompt.
    static func isPrompt(_ name: String) -> Bool {
        let name = name.utf8
        return name.suffix(3).elementsEqual(".md".utf8) && name.first != UInt8(ascii: ".")
    }

    /// Returns the prompts, and their directory if it is to be watched.
    func readAll(_ reader: ObjectReader) -> (prompts: [PromptDefinition], watched: String?) {
        var reader = reader
        let directory = reader.string("dir")
        let isWatched = reader.bool("watch") ?? false
        reader.finish()
        guard let directory else {
            if !reader.members.contains(where: { $0.key == "dir" }) {
                context.diagnostics.error("prompts has no \"dir\"", at: reader.position)
            }
            return ([], nil)
        }
        let place = reader.place(of: "dir")
        let path = context.absolute(directory)
        if let problem = Paths.directoryProblem(path) {
            context.diagnostics.error("prompts.dir: \(directory) \(problem)", at: place)
            return ([], nil)
        }
        let names: [String]
        do throws(IOError) {
            names = try Files.names(in: path).names.filter(Self.isPrompt).sorted()
        } catch {
            context.diagnostics.error(
                "prompts.dir: \(directory) cannot be listed: \(error.reason)", at: place)
            return ([], nil)
        }
        if names.isEmpty {
            context.diagnostics.warning("prompts.dir: \(directory) contains no *.md files", at: place)
        }
        if names.count > Self.maxFiles {
            context.diagnostics.error(
                "prompts.dir: \(directory) contains more than \(Self.maxFiles) files", at: place)
            return ([], nil)
        }
        return (read(names, in: path, shownAs: directory), isWatched ? path : nil)
    }

    private func read(_ names: [String], in path: String, shownAs directory: String) -> [PromptDefinition] {
        var prompts: [PromptDefinition] = []
        var files: [String: String] = [:]
        for name in names {
            let shown = "\(directory)/\(name)"
            let start = SourcePosition(file: shown, line: 1, column: 1)
            do throws(ConfigFileError) {
                let source = SourceText(
                    name: shown, bytes: try ConfigFile.bytes(at: "\(path)/\(name)", shownAs: shown))
                let stem = name.dropping(suffix: ".md") ?? name
                guard let prompt = PromptFile.parse(source, defaultName: stem, into: context.diagnostics)
                else {
                    continue
                }
                if let other = files.updateValue(shown, forKey: prompt.name) {
                    context.diagnostics.error("the prompt \"\(prompt.name)\" is also in \(other)", at: start)
                } else {
                    prompts.append(prompt)
                }
            } catch {
                context.diagnostics.error(error.text, at: start)
            }
        }
        return prompts
    }
}
