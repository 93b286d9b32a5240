import MCPApps
import MCPCore
import MCPHarness
import Testing

/// What a host tells of itself.
@Suite struct HostTypesTests {
    // A30
    @Test func allVariables() {
        let names = HostStyles.standard.variables.map(\.name)
        #expect(names.count == 76)
        #expect(Set(names).count == 76)
        let groups: [(String, Int)] = [
            ("--color-background-", 10), ("--color-text-", 10), ("--color-border-", 10), ("--color-ring-", 7),
            ("--font-weight-", 4), ("--font-text-", 8), ("--font-heading-", 14), ("--border-radius-", 6),
            ("--border-width-regular", 1), ("--shadow-", 4), ("--font-sans", 1), ("--font-mono", 1),
        ]
        for (prefix, count) in groups { #expect(names.count { $0.hasPrefix(prefix) } == count, "\(prefix)") }
        for variable in HostStyles.standard.variables where variable.name.hasPrefix("--color-text") {
            #expect(variable.value.hasPrefix("light-dark(#"))
        }
        #expect(HostStyles.standard.json["variables"]?["--border-width-regular"] == "1px")
        #expect(
            HostStyles(variables: [], fonts: "@import x").json == [
                "variables": [:], "css": ["fonts": "@import x"],
            ])
    }

    /// No number that JSON lacks is written.
    @Test(arguments: [Double.infinity, -.infinity, .nan]) func numbersThatJSONLacks(_ value: Double) {
        var context = HostContext()
        context.containerDimensions = .init(width: .fixed(value), height: .flexible(value))
        context.safeAreaInsets = .init(top: value)
        #expect(context.json["containerDimensions"] == [:])
        #expect(context.json["safeAreaInsets"]?["top"] == 0)
    }

    // A36
    @Test func theWholeContext() {
        var context = HostContext()
        #expect(context.json == [:])
        context.theme = "dark"
        context.styles = HostStyles(variables: [HostStyles.Variable("--a", "b")])
        context.displayMode = .pip
        context.availableDisplayModes = [.inline, .pip]
        context.containerDimensions = HostContext.Dimensions(width: .flexible(10.5), height: .fixed(20))
        context.userAgent = "x/1"
        context.deviceCapabilities = HostContext.Device(touch: true, hover: false)
        context.safeAreaInsets = HostContext.Insets(top: 1, left: 2)
        #expect(
            context.json == [
                "theme": "dark", "styles": ["variables": ["--a": "b"]], "displayMode": "pip",
                "availableDisplayModes": ["inline", "pip"],
                "containerDimensions": ["maxWidth": 10.5, "height": 20], "userAgent": "x/1",
                "deviceCapabilities": ["touch": true, "hover": false],
                "safeAreaInsets": ["top": 1, "right": 0, "bottom": 0, "left": 2],
            ])
        #expect(context.difference(from: context) == [:])
        #expect(context.difference(from: HostContext()) == context.json)
    }

    @Test func capabilities() {
        var capabilities = HostCapabilities()
        #expect(
            Array(capabilities.json.keys)
                == ["openLinks", "downloadFile", "logging", "updateModelContext", "message"])
        #expect(capabilities.json["message"]?.objectValue?.count == 6)
        (capabilities.serverTools, capabilities.serverResources, capabilities.sampling) = (true, true, true)
        capabilities.sandbox = SandboxGrant(
            csp: UICSPDomains(connect: ["https://a.example"]), permissions: [.geolocation])
        let json = capabilities.json
        #expect(json["serverTools"] == ["listChanged": true])
        #expect(json["serverResources"] == ["listChanged": true])
        #expect(json["sampling"] == [:])
        #expect(
            json["sandbox"] == [
                "permissions": ["geolocation": [:]], "csp": ["connectDomains": ["https://a.example"]],
            ])
    }
}
