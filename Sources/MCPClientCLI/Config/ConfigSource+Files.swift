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
        fileprivate(set) var texts: [String] = []
        /// The names of the variables in `envFile`.
        fileprivate(set) var variables: [String] = []
    }

    func files(_ environment: CommandEnvironment) -> Files {
        var files = Files()
        var texts: [String] = []
        let node = expansion(environment, [:], Diagnostics()) { path, absolute throws(ConfigFileError) in
            guard let project = place.project, absolute.hasPrefix(project + "/") else { return "" }
            texts.append(try ConfigFile.text(at: absolute, shownAs: path, isPrivate: true))
            return texts.last ?? ""
        }.expand(node)
        files.texts = texts
        if let file = node["envFile"]?.string, let text = try? environmentText(in: file) {
            files.texts.append(text)
            files.variables =
                ((try? EnvironmentFile.variables(text, shownAs: inlineText(file))) ?? []).map(\.name)
        }
        return files
    }
}
