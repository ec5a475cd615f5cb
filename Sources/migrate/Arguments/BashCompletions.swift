/// The completion script for bash.
struct BashCompletions: Sendable {
    let commands: [CommandDescription]

    var script: String {
        """
        # bash completion for migrate; load it with: source <(migrate completions bash)

        _migrate_offer() {
            local word
            while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$@")
        }

        _migrate_files() {
            compopt -o filenames 2>/dev/null
            _migrate_offer "$1" -- "$current"
        }

        _migrate() {
            local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
            COMPREPLY=()
            if ((COMP_CWORD == 1)); then
                _migrate_offer -W '\(subcommands) --help --version' -- "$current"
                return
            fi
            if [[ ${COMP_WORDS[1]} == help ]]; then
                _migrate_offer -W '\(names)' -- "$current"
                return
            fi
            local command=${COMP_WORDS[1]}
        \(groupCases)    case $command:$previous in
        \(valueCases)    esac
            case $command:$current in
        \(optionCases)    esac
            case $command in
        \(argumentCases)    esac
        }

        complete -F _migrate migrate

        """
    }

    private var names: String {
        (commands.map(\.name).filter { !$0.contains(" ") } + groups.map(\.name))
            .joined(separator: " ")
    }

    private var groups: [CommandGroup] { CommandCatalog.groups }

    /// Takes the second word for a part of the command's name, or offers it.
    private var groupCases: String {
        groups.reduce("") { text, group in
            text + """
                    if [[ $command == \(group.name) ]]; then
                        if ((COMP_CWORD == 2)); then
                            _migrate_offer -W '\(group.members.joined(separator: " "))' -- "$current"
                            return
                        fi
                        command+=" ${COMP_WORDS[2]}"
                    fi

                """
        }
    }

    private var subcommands: String { names + " help" }

    private var valueCases: String {
        lines { command in
            command.options.filter { $0.valueName != nil }.map { option in
                let action = action(option.completion)
                return
                    "\(pattern(command)):--\(option.name))\(action.map { " \($0);" } ?? "") return ;;"
            }
        }
    }

    private var optionCases: String {
        lines { command in
            let words = command.allOptions.map { "--\($0.name)" }.joined(separator: " ")
            return [
                "\(pattern(command)):-*) _migrate_offer -W '\(words)' -- \"$current\"; return ;;"
            ]
        }
    }

    private var argumentCases: String {
        lines { command in
            guard let argument = command.arguments.first else { return [] }
            let isCommandLine = argument.count == .commandLine
            let action = isCommandLine ? "_migrate_files -c" : action(argument.completion)
            return action.map { ["\(pattern(command))) \($0) ;;"] } ?? []
        }
    }

    /// The command's name in a pattern, in which a space would end it.
    private func pattern(_ command: CommandDescription) -> String {
        command.name.replacing(" ", with: "\\ ")
    }

    private func action(_ completion: ValueCompletion) -> String? {
        switch completion {
        case .none: nil
        case .file: "_migrate_files -f"
        case .directory: "_migrate_files -d"
        case .words(let words):
            "_migrate_offer -W '\(words.joined(separator: " "))' -- \"$current\""
        }
    }

    private func lines(_ cases: (CommandDescription) -> [String]) -> String {
        commands.flatMap(cases).map { "        \($0)\n" }.joined()
    }
}
