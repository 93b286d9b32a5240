/// The text of `--help`: one screen.
enum HelpText {
    static let text = """
        mcp-server exposes commands, files and prompts of this host to MCP clients.

        usage: mcp-server [run] [-c FILE | --demo] [--stdio | --listen ADDR…] [--set PATH=VALUE…]
               mcp-server check [FILE]      report all errors in a configuration, with line and column;
                                            with --online, ask the issuers of tokens as well
               mcp-server token new NAME --allow PATTERN… [--scope SCOPE…] [--expires 90d]
               mcp-server token list, token revoke NAME      tokens for callers over HTTP
               mcp-server schema            print the JSON Schema of the configuration
               mcp-server version

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
          --client-tools       let other programs provide tools (docs/client-tools.md); with
                                 --client-tools-auth token|none   what TCP registration needs (token)
                                 --channel NAME                   the channel that --stdio serves
                                 --providers-socket PATH          the socket where they connect
                                   ($XDG_RUNTIME_DIR/mcpcore/providers.sock over HTTP)
                                 --listen ADDR                    with --stdio: a TCP address
                                   where they connect as well
          --log-level LEVEL    error, warning, info (the default) or debug
          --core-dumps         leave a core file after a crash; without it, other processes of the
                               user cannot read the server's environment either (Linux)
          -h, --help           this text

        try it:   mcp-server --demo
        exit:     0 ended · 1 failed while running · 2 usage or configuration · 3 cannot listen
                  8 check found errors · 129, 130, 143 ended by a second signal
        """
}
