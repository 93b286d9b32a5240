import MCPCore

extension ConfigCommand {
    /// `check`: reports what is wrong with the files and their servers, without starting or asking one. What
    /// is wrong with a disabled server is marked, and fails nothing.
    ///
    /// - Parameter name: the only server to check; nil for all of them.
    func check(_ name: String?) throws(Failure) -> ExitCode {
        let catalog = ServerCatalog(environment)
        if let name { _ = try catalog.entry(name, for: "config check", mayBeDisabled: true) }
        let allowed = AllowedServers(environment)
        let diagnostics = Diagnostics()
        let entries = catalog.entries.filter { name == nil || $0.name == name }
        var skipped = 0
        for entry in entries {
            let isExpanded = entry.place.kind != .project || allowed.contains(entry)
            if !isExpanded { skipped += 1 }
            guard entry.isDisabled else {
                check(entry, in: catalog.sources, isExpanded: isExpanded, diagnostics)
                continue
            }
            let own = Diagnostics()
            check(entry, in: catalog.sources, isExpanded: isExpanded, own)
            for item in own.sorted {
                diagnostics.warning("\(item.text) (it is disabled)", at: item.position)
            }
        }
        var problems = name == nil ? catalog.sources.flatMap(\.problems) : []
        for place in catalog.missing where place.kind == .chosen {
            problems.append("MCP_CONFIG names \(place.shown(in: environment)), which does not exist")
        }
        let findings = (problems + diagnostics.sorted.map(\.rendered)).map { inlineText($0) }
        let isGood = problems.isEmpty && !diagnostics.hasErrors
        if console.isJSON {
            console.json(RawJSON(["findings": .array(findings.map { .string($0) }), "ok": .bool(isGood)]))
            return isGood ? .ok : .checkFailed
        }
        for finding in findings { console.line(finding) }
        let errors = problems.count + diagnostics.errorCount
        let counts = [
            Diagnostics.counted(entries.count, "server"), Diagnostics.counted(errors, "error"),
            Diagnostics.counted(diagnostics.warningCount, "warning"),
        ]
        let disabled = entries.filter(\.isDisabled).map { inlineText($0.name) }
        let rest = [
            disabled.isEmpty ? nil : "disabled: " + disabled.joined(separator: ", "),
            skipped > 0 ? "checked in form only, until mcp-client config allow allows them: \(skipped)" : nil,
        ]
        console.note((counts + rest.compactMap { $0 }).joined(separator: " · "))
        return isGood ? .ok : .checkFailed
    }

    private func check(
        _ entry: ConfigSource.Entry, in sources: [ConfigSource], isExpanded: Bool, _ diagnostics: Diagnostics
    ) {
        if !entry.hasUsableName {
            diagnostics.warning(
                "the server \"\(entry.name)\" cannot be used by this name: "
                    + (Target.canBeName(entry.name)
                        ? "in a project, a name has no / and :, and begins with neither . nor ~"
                        : "as TARGET it would be a flag, an address or a file"),
                at: entry.position)
        }
        let before = diagnostics.errorCount
        ServerEntryReader.check(entry.name, entry.node, into: diagnostics)
        entry.checkFiles(environment, into: diagnostics)
        for member in ServerEntryReader.unknownMembers(of: entry.node)
        where !diagnostics.hasError(at: member.keyPosition) {
            diagnostics.warning(
                "the server \"\(entry.name)\" has a member \"\(member.key)\", which is ignored",
                at: member.keyPosition)
        }
        guard isExpanded, diagnostics.errorCount == before else { return }
        let node = entry.expansion(
            environment, ServerResolver.knownInputs(of: entry, in: sources, environment), diagnostics
        )
        .expand(entry.node)
        guard let server = ServerEntryReader.read(entry.name, node, into: diagnostics) else { return }
        if let file = server.environmentFile {
            do throws(ConfigFileError) {
                let text = try entry.environmentText(in: file)
                _ = try EnvironmentFile.variables(text, shownAs: inlineText(file))
            } catch {
                diagnostics.error(
                    "the server \"\(entry.name)\" has an envFile that cannot be used: \(error.text)",
                    at: entry.position)
            }
        }
        guard case .program(let words) = server.place, var program = words.first else { return }
        let origin = entry.place.project ?? entry.place.directory
        if let directory = server.directory.map({ ConfigPlace.absolute($0, in: origin) }),
            !SystemFile.isDirectory(directory)
        {
            diagnostics.error(
                "the server \"\(entry.name)\" has a cwd that is not a directory: \(directory)",
                at: entry.node["cwd"]?.position ?? entry.position)
        }
        if program.contains("/") { program = ConfigPlace.absolute(program, in: origin) }
        var variables = environment.allVariables()
        for (name, value) in server.environment { variables[name] = value }
        do throws(SpawnError) {
            _ = try ProcessLaunch(program, environment: variables).resolvedProgram()
        } catch {
            diagnostics.error("the server \"\(entry.name)\" cannot be started: \(error)", at: entry.position)
        }
    }
}
