/// The scripts that connect shells with `mcp-client __complete`. They contain no knowledge of commands.
enum CompletionScript {
    static let shells = ["bash", "zsh", "fish"]

    static func text(for shell: String) -> String? {
        switch shell {
        case "bash": bash
        case "zsh": zsh
        case "fish": fish
        default: nil
        }
    }

    private static let bash = #"""
        # Completion of mcp-client for bash. Put this line into ~/.bashrc:
        #   source <(mcp-client completion bash)
        _mcp_client() {
            local line
            COMPREPLY=()
            while IFS= read -r line; do
                COMPREPLY+=("$line")
            done < <("${1/#\~\//$HOME/}" __complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" \
                2>/dev/null </dev/null)
        }
        complete -o nospace -F _mcp_client mcp-client

        """#

    private static let zsh = #"""
        #compdef mcp-client
        # Completion of mcp-client for zsh. Put this line into ~/.zshrc, after compinit:
        #   source <(mcp-client completion zsh)
        _mcp_client() {
            local line value note program=${(Q)words[1]}
            local -a full full_notes part part_notes before
            before=("${(@)words[2,CURRENT-1]}")
            (( CURRENT > 2 )) || before=()
            while IFS= read -r line; do
                value=${${line#?}%%$'\t'*}
                note=${line#*$'\t'}
                [[ -n $note ]] && note="$value  -- $note" || note=$value
                if [[ $line == P* ]]; then
                    part+=("$value") part_notes+=("$note")
                else
                    full+=("$value") full_notes+=("$note")
                fi
            done < <("${program/#\~\//$HOME/}" __complete zsh "${before[@]}" "$PREFIX" 2>/dev/null </dev/null)
            (( $#full )) && compadd -V mcp-client -l -d full_notes -a full
            (( $#part )) && compadd -V mcp-client -l -S '' -d part_notes -a part
            return 0
        }
        if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
            _mcp_client "$@"
        else
            compdef _mcp_client mcp-client
        fi

        """#

    private static let fish = #"""
        # Completion of mcp-client for fish. Run once:
        #   mcp-client completion fish >~/.config/fish/completions/mcp-client.fish
        function __mcp_client_complete
            set -l words (commandline -opc)
            set -l current (commandline -ct)
            set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
            $program __complete fish $words[2..-1] "$current" 2>/dev/null </dev/null
        end
        complete -c mcp-client -f -a '(__mcp_client_complete)'

        """#
}
