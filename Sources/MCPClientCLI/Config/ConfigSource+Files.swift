import MCPCore

/// What an entry of a configuration reads besides its own file.
extension ConfigSource.Entry {
    /// Returns an expansion of the texts of this entry.
    ///
    /// - Parameters:
    ///   - inputs: the values of `${input:ID}`.
    ///   - read: returns the text of a file, by the path as it is written and the absolute one.
    func expansion(
        _ environment: CommandEnvironment, _ inputs: [String: String], _ diagnostics: Diagnostics,
        read: @escaping (_ path: String, _ absolute: String) throws(ConfigFileError) -> String = {
            path, absolute throws(ConfigFileError) in
            try ConfigFile.text(at: absolute, shownAs: path, isPrivate: true)
        }
    ) -> Expansion {
        let directory = place.directory
        var context = Expansion.Context(
            environment: environment.allVariables(), configDirectory: directory,
            readSecret: { path throws(ConfigFileError) in
                try read(path, ConfigPlace.absolute(path, in: directory))
            })
        context.workspaceFolder = place.project ?? environment.currentDirectory
        context.input = { id throws(ConfigFileError) in
            if let value = inputs[id] { return value }
            throw ConfigFileError(text: "set the variable \(ServerResolver.variable(ofInput: id))")
        }
        return Expansion(context, diagnostics: diagnostics)
    }

    /// Returns the text of the file of variables.
    func environmentText(in file: String) throws(ConfigFileError) -> String {
        let path = ConfigPlace.absolute(file, in: place.project ?? place.directory)
        return try ConfigFile.text(at: path, shownAs: inlineText(file))
    }

    /// The files of its project that decide, besides this entry, what it does: its variables, and the texts
    /// that it includes. A file elsewhere, such as one with a token, belongs to the user; it is not read.
    struct Files {
        /// The texts that its placeholders include, in the order of the entry.
        fileprivate(set) var included: [Inclusion] = []
        /// The text of `envFile`.
        fileprivate(set) var environment: String?
        /// The variables in `envFile`; without their values if the file is not one of the project.
        fileprivate(set) var variables: [(name: String, value: String?)] = []

        struct Inclusion {
            let path: String
            let text: String
            /// Whether the path stays in the project.
            let isInside: Bool
        }

        var texts: [String] { included.map(\.text) + (environment.map { [$0] } ?? []) }
    }

    func files(_ environment: CommandEnvironment) -> Files {
        var files = Files()
        var included: [Files.Inclusion] = []
        let expanded = expansion(environment, [:], Diagnostics()) { path, absolute throws(ConfigFileError) in
            // What a path with .. leads to is compared, and not shown.
            let isInside = isOfProject(absolute)
            guard isInside || place.project.map({ absolute.hasPrefix($0 + "/") }) ?? false else { return "" }
            let text = try ConfigFile.text(at: absolute, shownAs: path, isPrivate: true)
            included.append(Files.Inclusion(path: path, text: text, isInside: isInside))
            return text
        }.expand(node)
        files.included = included
        // The file that counts is the one that its placeholders lead to.
        if let file = expanded["envFile"]?.string, let text = try? environmentText(in: file) {
            let isOwn = isOfProject(ConfigPlace.absolute(file, in: place.project ?? place.directory))
            files.environment = text
            files.variables =
                ((try? EnvironmentFile.variables(text, shownAs: inlineText(file))) ?? []).map {
                    (name: $0.name, value: isOwn ? $0.value : nil)
                }
        }
        return files
    }

    private func isOfProject(_ path: String) -> Bool {
        var parts: [String] = []
        for part in MCPCore.Files.components(path) {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return place.project.map { ("/" + parts.joined(separator: "/")).hasPrefix($0 + "/") } ?? false
    }
}
