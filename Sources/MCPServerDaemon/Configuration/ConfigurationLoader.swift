import MCPCore

/// Loads a configuration file with everything that belongs to it.
struct ConfigurationLoader {
    /// The result, which is usable if the diagnostics contain no error.
    struct Outcome {
        var configuration: Configuration
        var diagnostics: Diagnostics
        /// The main file as it was read.
        var stamp = FileStamp()
        /// Whether the main file could not be read.
        var isUnreadable = false
    }

    var overrides: [Override] = []
    var environment: [String: String]
    /// See `ConfigContext`.
    var servedChannel: String?
    var purpose = ConfigContext.Purpose.serving

    /// Loads the file at `path`; every problem, including an unreadable file, is in the outcome's
    /// diagnostics.
    func load(file path: String) -> Outcome {
        let diagnostics = Diagnostics()
        let directory = Paths.parent(of: Paths.absolute(path, relativeTo: Paths.currentDirectory))
        // Before the file is read: a change in the meantime is not missed.
        var stamp = FileStamp(propertiesOf: path)
        do throws(ConfigFileError) {
            let bytes = try ConfigFile.bytes(at: path, shownAs: path)
            stamp.contents = SHA256.hash(bytes)
            var outcome = load(
                SourceText(name: path, bytes: bytes), directory: directory, diagnostics, isFile: true)
            outcome.stamp = stamp
            return outcome
        } catch {
            diagnostics.error(error.text, at: SourcePosition(file: path))
            return Outcome(
                configuration: Configuration(), diagnostics: diagnostics, stamp: stamp, isUnreadable: true)
        }
    }

    /// Loads a configuration without a file: the defaults with the overrides from the command line.
    func loadDefaults(serverName: String) -> Outcome {
        let source = SourceText(name: "(no file)", text: "{\"server\": {\"name\": \"\(serverName)\"}}")
        return load(source, directory: Paths.currentDirectory, Diagnostics())
    }

    /// Loads a text whose relative names are relative to `directory`.
    ///
    /// - Parameter isFile: whether the name of the text is that of its file.
    func load(
        _ source: SourceText, directory: String, _ diagnostics: Diagnostics, isFile: Bool = false
    ) -> Outcome {
        let context = ConfigContext(
            diagnostics: diagnostics, directory: directory, environment: environment,
            servedChannel: servedChannel, purpose: purpose)
        guard var root = JSONCParser.parse(source, into: diagnostics) else {
            return Outcome(configuration: Configuration(), diagnostics: diagnostics)
        }
        let expansion = Expansion(
            .init(environment: environment, configDirectory: directory, readSecret: context.readSecret),
            diagnostics: diagnostics)
        let variables = UsedVariables()
        let included = IncludedFiles(context: context, expansion: expansion)
        let includes = included.patterns(of: root)
        root = included.merged(root, includes)
        for override in overrides { root = root.applying(override, diagnostics: diagnostics) }
        variables.add(root)
        let expanded = expansion.expand(root)
        var configuration = ConfigurationReader(context: context).read(expanded)
        configuration.includes = includes.map(\.path)
        configuration.texts = context.texts
        configuration.secrets = context.secrets
        configuration.variables = variables.names
        let file = isFile ? Paths.absolute(source.name, relativeTo: Paths.currentDirectory) : nil
        SandboxCheck(configuration: configuration, root: expanded, file: file, context: context).run()
        return Outcome(configuration: configuration, diagnostics: diagnostics)
    }
}
