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
            case ${COMP_WORDS[1]}:$previous in
        \(valueCases)    esac
            case ${COMP_WORDS[1]}:$current in
        \(optionCases)    esac
            case ${COMP_WORDS[1]} in
        \(argumentCases)    esac
        }

        complete -F _migrate migrate

        """
    }

    private var names: String { commands.map(\.name).joined(separator: " ") }

    private var subcommands: String { names + " help" }

    private var valueCases: String {
        lines { command in
            command.options.filter { $0.valueName != nil }.map { option in
                let action = action(option.completion)
                return
                    "\(command.name):--\(option.name))\(action.map { " \($0);" } ?? "") return ;;"
            }
        }
    }

    private var optionCases: String {
        lines { command in
            let words = command.allOptions.map { "--\($0.name)" }.joined(separator: " ")
            return ["\(command.name):-*) _migrate_offer -W '\(words)' -- \"$current\"; return ;;"]
        }
    }

    private var argumentCases: String {
        lines { command in
            guard let argument = command.arguments.first else { return [] }
            let isCommandLine = argument.count == .commandLine
            let action = isCommandLine ? "_migrate_files -c" : action(argument.completion)
            return action.map { ["\(command.name)) \($0) ;;"] } ?? []
        }
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
