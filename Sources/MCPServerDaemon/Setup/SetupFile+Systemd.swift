import MCPCore

/// The units of systemd.
extension SetupFile {
    /// The file with the variables that the configuration uses.
    private static let environmentFile = "/etc/mcp-server/environment"

    private static func unitName(_ subject: Subject) -> String {
        "\(ServiceNeeds.service)\(subject.needs.isTemplate ? "@" : "")"
    }

    static func systemd(_ subject: Subject) -> String {
        """
        \(heading(subject))
        [Unit]
        Description=MCP server\(subject.needs.isTemplate ? " %i" : "")
        Documentation=https://modelcontextprotocol.io
        After=network.target

        [Service]
        # The server says when it is ready, and when it has read its configuration again.
        Type=notify
        ExecStart=\(command(subject))
        ExecReload=/bin/kill -HUP $MAINPID
        Restart=on-failure
        WatchdogSec=30
        # The server ends its commands itself; whatever is left after that is killed.
        KillMode=mixed
        TimeoutStopSec=\(subject.stopSeconds)
        \(identity(subject.needs).joined(separator: "\n"))
        UMask=0077

        NoNewPrivileges=yes
        CapabilityBoundingSet=
        AmbientCapabilities=
        ProtectSystem=strict
        \(writable(subject.needs))ProtectHome=yes
        PrivateTmp=yes
        RemoveIPC=yes
        PrivateDevices=yes
        ProtectClock=yes
        ProtectControlGroups=yes
        ProtectHostname=yes
        ProtectKernelLogs=yes
        ProtectKernelModules=yes
        ProtectKernelTunables=yes
        RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        LockPersonality=yes
        \(machineCode(subject.needs))
        SystemCallArchitectures=native
        SystemCallFilter=@system-service
        # Sandboxes of tools; older versions of systemd leave these out of @system-service.
        SystemCallFilter=landlock_create_ruleset landlock_add_rule landlock_restrict_self
        SystemCallErrorNumber=EPERM
        LimitNOFILE=\(max(65_536, subject.connections + 4_096))
        # For the server, with limits.memory, and its commands and servers.
        MemoryMax=\(max(1_024, (subject.memoryBytes >> 20) + 768))M
        TasksMax=1024

        [Install]
        WantedBy=multi-user.target

        """
    }

    private static func heading(_ subject: Subject) -> String {
        var lines = [
            "# /etc/systemd/system/\(unitName(subject)).service",
            "# Its user, once: useradd --system --home-dir /var/lib/mcp-server --shell /usr/sbin/nologin "
                + "mcp-server",
            "# Files with secrets belong to that user: chown mcp-server FILE && chmod 600 FILE",
            "# Its commands run with these restrictions too: widen what they need, for example "
                + "ReadWritePaths=.",
        ]
        if subject.needs.isTemplate {
            lines.append("# One instance for each name: systemctl enable --now mcp-server@a mcp-server@b")
        }
        return lines.joined(separator: "\n")
    }

    private static func command(_ subject: Subject) -> String {
        // systemd looks for variables in the words behind the program only.
        let arguments = subject.words(subject.configuration).map {
            ServiceNeeds.word($0).replacing("$", with: "$$")
        }
        return ([ServiceNeeds.word(subject.program)] + arguments).joined(separator: " ")
    }

    private static func identity(_ needs: ServiceNeeds) -> [String] {
        var lines = ["User=\(ServiceNeeds.service)"]
        if !needs.groups.isEmpty {
            lines += [
                "# Those of its sockets.", "SupplementaryGroups=\(needs.groups.joined(separator: " "))",
            ]
        }
        if needs.isTemplate { lines.append("Environment=\(ServiceNeeds.instance)=%i") }
        if !needs.variables.isEmpty {
            let names = needs.variables.keys.sorted().joined(separator: ", ")
            let isOptional = needs.variables.values.allSatisfy { !$0 }
            lines += [
                "# NAME=VALUE on each line, for \(names): a file of root, mode 600.",
                "EnvironmentFile=\(isOptional ? "-" : "")\(environmentFile)",
            ]
        }
        lines += ["RuntimeDirectory", "StateDirectory", "LogsDirectory"].map { "\($0)=\(needs.names($0))" }
        // Sockets of instances that run, and of a socket unit, are in there too.
        return lines + ["RuntimeDirectoryPreserve=yes"]
    }

    private static func machineCode(_ needs: ServiceNeeds) -> String {
        needs.makesCode
            ? "# Its programs may make machine code at run time, as node does.\nMemoryDenyWriteExecute=no"
            : "MemoryDenyWriteExecute=yes"
    }

    private static func writable(_ needs: ServiceNeeds) -> String {
        if needs.writable.isEmpty { return "" }
        // One that does not exist must not keep the service from starting: the server says what is missing.
        let words = needs.writable.map { ServiceNeeds.word("-\($0)") }.joined(separator: " ")
        return "# They must exist, and \(ServiceNeeds.service) must be allowed to write there.\n"
            + "ReadWritePaths=\(words)\n"
    }

    static func socket(_ subject: Subject) -> String {
        var lines = subject.sockets.map { "ListenStream=\(ServiceNeeds.value($0))" }
        if let mode = subject.mode {
            // Without them, the files would be root's.
            let group = subject.group ?? ServiceNeeds.service
            lines += [
                "SocketMode=0\(String(mode, radix: 8))", "SocketUser=\(ServiceNeeds.service)",
                "SocketGroup=\(group)",
            ]
        }
        return """
            # /etc/systemd/system/\(unitName(subject)).socket
            # Optional: the sockets of "listen" outlive restarts, so that no client is refused.
            [Unit]
            Description=Sockets of the MCP server

            [Socket]
            \(lines.joined(separator: "\n"))

            [Install]
            WantedBy=sockets.target

            """
    }
}
