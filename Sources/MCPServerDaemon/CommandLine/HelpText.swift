/// The text of `--help`: one screen.
enum HelpText {
    static let text = """
        mcp-server exposes commands, files, prompts and other MCP servers to MCP clients.

        usage: mcp-server [run] [-c FILE | --demo] [--stdio | --listen ADDR…] [--set PATH=VALUE…]
               mcp-server expose [--listen ADDR…] -- PROGRAM ARGUMENT… | DIRECTORY | URL
               mcp-server check [FILE] [--online]   report all errors, with line and column
               mcp-server explain | call TOOL [ARGUMENTS]   print or run a call: name=value, name:=JSON
               mcp-server token new NAME --allow PATTERN… [--scope SCOPE…] [--expires 90d] [--rate 60/min]
               mcp-server token list | revoke NAME
               mcp-server status [--json] | errors [-n COUNT] | reload [--timeout 90s] | drain  ask a server
               mcp-server audit verify FILE…
               mcp-server init --systemd[-socket] | --launchd | --nginx | --caddy | --docker [-c FILE]
               mcp-server schema | version

          -c, --config FILE    the configuration (JSON with comments); default: the first of
                               $XDG_CONFIG_HOME/mcp-server/mcp.jsonc (~/.config/mcp-server/mcp.jsonc)
                               and /etc/mcp-server/mcp.jsonc
          --demo               no configuration: echo, add, now, slow, a clock with a view, some
                               resources, a prompt
          --stdio              serve standard input and output; this is the default without -c
                               and --listen when standard input is a pipe or a socket
          --listen ADDR        HOST:PORT, [IPV6]:PORT or unix:///PATH?mode=0660&group=NAME; repeatable;
                               default: unix://$XDG_RUNTIME_DIR/mcp.sock and 127.0.0.1:8808
          --set PATH=VALUE     replace one value in the configuration: --set limits.body=64MiB
          --client-tools       let other programs provide tools; with
                                 --client-tools-auth token|none   what TCP registration needs (token)
                                 --channel NAME                   the channel that --stdio serves
                                 --providers-socket PATH          the socket where they connect
                                   ($XDG_RUNTIME_DIR/mcpcore/providers.sock over HTTP)
                                 --listen ADDR                    with --stdio: a TCP address
                                   where they connect as well
          --admin ADDR         for status, errors, reload, drain: the server's address for operators
          --log-level LEVEL    error, warning, info (the default) or debug
          --core-dumps         leave a core file after a crash; without it, other processes of the
                               user cannot read the server's environment either (Linux)
          -h, --help           this text; --man prints the manual page. … after a value: repeat the option

        try it:   mcp-server --demo
        exit:     0 ended · 1 failed while running, or the tool did · 2 usage or configuration
                  3 cannot listen · 8 check, reload or verify found errors
                  129, 130, 143 ended by a second signal
        """
}
