import MCPCore

extension Invocation {
    /// Returns the paths of the files that the command reads, as far as its line and the configuration say.
    ///
    /// - Parameter words: further words for servers.
    func filesRead(_ environment: CommandEnvironment, servers words: [String]) -> [String] {
        let own = [targetText, serverName, configuredName].compactMap(\.self) + serverNames.map(\.word)
        let words = (words + own).map { $0 == "." ? environment.variable("MCP_TARGET") ?? $0 : $0 }
        var files = options.filesRead + operandFiles + argumentFiles + words.filter(Target.isFile)
        let targets = [target].compactMap(\.self) + servers.map(\.target)
        for case .recording(let path) in targets { files.append(path) }
        // A command that has no --locked uses the lock file whenever it may.
        let usesLock = options.checks.isLocked || !command.knows(.check(.locked))
        if usesLock, command.knows(.check(.lockFile)) {
            let file = options.checks.lockFile ?? CheckOptions.defaultLockFile
            files.append(ConfigPlace.absolute(file, in: environment.currentDirectory))
        }
        files += (LoginFlags.fileVariables + ["SSL_CERT_FILE"]).compactMap(environment.variable)
        let names = words.filter { !Target.isFile($0) && Target.mayBeConfigured($0) }
        return names.isEmpty ? files : files + ServerCatalog(environment).filesRead(for: names)
    }

    private var operandFiles: [String] {
        let grammar = command.operands
        return operands.enumerated().compactMap { index, word in
            if Target.isFile(word) { return word }
            return (grammar.indices.contains(index) ? grammar[index] : grammar.last)?.reads?.path(in: word)
        }
    }

    /// The files of arguments: `k=@FILE`, `k:=@FILE`, and `@FILE` alone after `--k`.
    private var argumentFiles: [String] {
        arguments.compactMap { word in
            switch ArgumentWord(word)?.value ?? ArgumentWord.text(word) {
            case .textFile(let path), .jsonFile(let path): path == "-" ? nil : path
            case .text, .json, .flag: nil
            }
        }
    }
}
