/// The completion script for zsh.
struct ZshCompletions: Sendable {
    let commands: [CommandDescription]

    var script: String {
        """
        #compdef migrate
        # zsh completion for migrate; load it with: source <(migrate completions zsh)

        _migrate() {
            local context state state_descr line
            typeset -A opt_args
            local -a subcommands=(
        \(subcommands)    )
            _arguments -C \\
                '(- *)'{-h,--help}'[Show this help.]' \\
                '(- *)--version[Show the version.]' \\
                '1:subcommand:->subcommand' \\
                '*::argument:->argument'
            case $state in
                subcommand) _describe subcommand subcommands ;;
                argument)
        \(groups)            case $words[1] in
        \(cases)            esac ;;
            esac
        }

        if [ "$funcstack[1]" = "_migrate" ]; then
            _migrate "$@"
        else
            compdef _migrate migrate
        fi

        """
    }

    private var subcommands: String {
        let rows =
            commands.filter { !$0.name.contains(" ") }.map { ($0.name, $0.abstract) }
            + CommandCatalog.groups.map { ($0.name, $0.abstract) }
            + [("help", "Show the help of a subcommand.")]
        return rows.reduce("") { text, row in
            text + "        \(Shell.quoting("\(row.0):\(escaping(row.1))"))\n"
        }
    }

    /// Takes the second word for a part of the command's name, or offers it.
    private var groups: String {
        CommandCatalog.groups.reduce("") { text, group in
            text + """
                            if [[ $words[1] == \(group.name) ]]; then
                                if ((CURRENT == 2)); then
                                    compadd -- \(group.members.joined(separator: " "))
                                    return
                                fi
                                words=("\(group.name) $words[2]" "${(@)words[3,-1]}")
                                ((CURRENT--))
                            fi

                """
        }
    }

    private var cases: String {
        let names =
            (commands.map(\.name).filter { !$0.contains(" ") }
            + CommandCatalog.groups.map(\.name))
            .joined(separator: " ")
        return commands.reduce("") { $0 + body(of: $1) }
            + "                help) _arguments '1:subcommand:(\(names))' ;;\n"
    }

    private func body(of command: CommandDescription) -> String {
        let margin = String(repeating: " ", count: 16)
        let specifications =
            command.options.map(specification)
            + ["'(- *)'{-h,--help}'[\(OptionDescription.help.help)]'"]
            + command.arguments.enumerated().map { argument($1, at: $0 + 1) }
        let separator = " \\\n\(margin)    "
        let name = command.name.contains(" ") ? Shell.quoting(command.name) : command.name
        return "\(margin)\(name)) _arguments\(separator)"
            + specifications.joined(separator: separator) + " ;;\n"
    }

    private func specification(_ option: OptionDescription) -> String {
        let help = "[\(escaping(option.help))]"
        let prefix = option.isRepeatable ? "*" : ""
        guard let value = option.valueName else { return Shell.quoting("--\(option.name)\(help)") }
        let action = action(option.completion)
        return Shell.quoting("\(prefix)--\(option.name)=\(help):\(value):\(action)")
    }

    private func argument(_ argument: ArgumentDescription, at place: Int) -> String {
        let action = action(argument.completion)
        return switch argument.count {
        case .one: Shell.quoting("\(place):\(argument.name):\(action)")
        case .any: Shell.quoting("*:\(argument.name):\(action)")
        case .commandLine: Shell.quoting("*::\(argument.name):_normal")
        }
    }

    private func action(_ completion: ValueCompletion) -> String {
        switch completion {
        case .none: " "
        case .file: "_files"
        case .directory: "_files -/"
        case .words(let words): "(\(words.joined(separator: " ")))"
        }
    }

    /// `text` without the characters that have a meaning in a specification.
    private func escaping(_ text: String) -> String {
        text.reduce("") { "[]:\\".contains($1) ? $0 + "\\\($1)" : $0 + String($1) }
    }
}
