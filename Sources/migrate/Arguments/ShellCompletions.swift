/// A shell that can complete the program's commands and flags.
enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish

    func completionScript(for tree: CommandTree) -> String {
        switch self {
        case .bash: BashCompletions(tree: tree).script
        case .zsh: ZshCompletions(tree: tree).script
        case .fish: FishCompletions(tree: tree).script
        }
    }
}

// MARK: - bash

private struct BashCompletions: Sendable {
    let tree: CommandTree

    private var names: String { tree.firstWords.joined(separator: " ") }

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
                _migrate_offer -W '\(names) help --help --version' -- "$current"
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

    /// Joins the second word to the command's name, or offers the second words.
    private var groupCases: String {
        tree.groups.reduce("") { text, group in
            text + """
                    if [[ $command == \(group.name) ]]; then
                        if ((COMP_CWORD == 2)); then
                            _migrate_offer -W '\(tree.members(of: group).joined(separator: " "))' -- "$current"
                            return
                        fi
                        command+=" ${COMP_WORDS[2]}"
                    fi

                """
        }
    }

    private var valueCases: String {
        lines { command in
            command.flags.filter { $0.valueName != nil }.map { flag in
                let action = action(for: flag.completion)
                return
                    "\(pattern(command)):\(names(of: flag)))\(action.map { " \($0);" } ?? "") return ;;"
            }
        }
    }

    private var optionCases: String {
        lines { command in
            let words = command.allFlags.map { "--\($0.name)" }.joined(separator: " ")
            return [
                "\(pattern(command)):-*) _migrate_offer -W '\(words)' -- \"$current\"; return ;;"
            ]
        }
    }

    private var argumentCases: String {
        lines { command in
            guard let argument = command.arguments.first else { return [] }
            let isCommandLine = argument.count == .commandLine
            let action = isCommandLine ? "_migrate_files -c" : action(for: argument.completion)
            return action.map { ["\(pattern(command))) \($0) ;;"] } ?? []
        }
    }

    /// The command's name as a pattern, in which a space must be escaped.
    private func pattern(_ command: CommandDescription) -> String {
        command.name.replacing(" ", with: "\\ ")
    }

    private func names(of flag: FlagDescription) -> String {
        flag.short.map { "--\(flag.name)|-\($0)" } ?? "--\(flag.name)"
    }

    private func action(for completion: ValueCompletion) -> String? {
        switch completion {
        case .none: nil
        case .file: "_migrate_files -f"
        case .directory: "_migrate_files -d"
        case .words(let words):
            "_migrate_offer -W '\(words.joined(separator: " "))' -- \"$current\""
        }
    }

    private func lines(_ cases: (CommandDescription) -> [String]) -> String {
        tree.commands.flatMap(cases).map { "        \($0)\n" }.joined()
    }
}

// MARK: - zsh

private struct ZshCompletions: Sendable {
    let tree: CommandTree

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
            tree.singleCommands.map { ($0.name, $0.abstract) }
            + tree.groups.map { ($0.name, $0.abstract) }
            + [("help", CommandTree.helpAbstract)]
        return rows.reduce("") { text, row in
            text + "        \(quoting("\(row.0):\(escaping(row.1))"))\n"
        }
    }

    /// Joins the second word to the command's name, or offers the second words.
    private var groups: String {
        tree.groups.reduce("") { text, group in
            text + """
                            if [[ $words[1] == \(group.name) ]]; then
                                if ((CURRENT == 2)); then
                                    compadd -- \(tree.members(of: group).joined(separator: " "))
                                    return
                                fi
                                words=("\(group.name) $words[2]" "${(@)words[3,-1]}")
                                ((CURRENT--))
                            fi

                """
        }
    }

    private var cases: String {
        let names = tree.firstWords.joined(separator: " ")
        return tree.commands.reduce("") { $0 + body(of: $1) }
            + "                help) _arguments '1:subcommand:(\(names))' ;;\n"
    }

    private func body(of command: CommandDescription) -> String {
        let margin = String(repeating: " ", count: 16)
        let specifications =
            command.flags.map { specification(of: $0) }
            + ["'(- *)'{-h,--help}'[\(FlagDescription.help.help)]'"]
            + command.arguments.enumerated().map { argument($1, at: $0 + 1) }
        let separator = " \\\n\(margin)    "
        let name = command.name.contains(" ") ? quoting(command.name) : command.name
        return "\(margin)\(name)) _arguments\(separator)"
            + specifications.joined(separator: separator) + " ;;\n"
    }

    private func specification(of flag: FlagDescription) -> String {
        let help = "[\(escaping(flag.help))]"
        let prefix = flag.isRepeatable ? "*" : ""
        let value = flag.valueName.map { ":\($0):\(action(for: flag.completion))" } ?? ""
        let sign = flag.valueName == nil ? "" : "="
        guard let short = flag.short else {
            return quoting("\(prefix)--\(flag.name)\(sign)\(help)\(value)")
        }
        let rivals = flag.isRepeatable ? "*" : "(-\(short) --\(flag.name))"
        return "'\(rivals)'{-\(short),--\(flag.name)\(sign)}" + quoting("\(help)\(value)")
    }

    private func argument(_ argument: ArgumentDescription, at place: Int) -> String {
        let action = action(for: argument.completion)
        return switch argument.count {
        case .one: quoting("\(place):\(argument.name):\(action)")
        case .optional: quoting("\(place)::\(argument.name):\(action)")
        case .any: quoting("*:\(argument.name):\(action)")
        case .commandLine: quoting("*::\(argument.name):_normal")
        }
    }

    private func action(for completion: ValueCompletion) -> String {
        switch completion {
        case .none: " "
        case .file: "_files"
        case .directory: "_files -/"
        case .words(let words): "(\(words.joined(separator: " ")))"
        }
    }

    /// `text` without the characters that are special in a specification.
    private func escaping(_ text: String) -> String {
        text.reduce("") { "[]:\\".contains($1) ? $0 + "\\\($1)" : $0 + String($1) }
    }

    /// `text` as one word in single quotes.
    private func quoting(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }
}

// MARK: - fish

private struct FishCompletions: Sendable {
    let tree: CommandTree

    private var names: String { tree.firstWords.joined(separator: " ") }

    private var subcommands: String {
        (tree.singleCommands.map(subcommand) + tree.groups.map(group)).joined(separator: "\n")
    }

    var script: String {
        """
        # fish completion for migrate; load it with: migrate completions fish | source

        complete -c migrate -f
        complete -c migrate -n __fish_use_subcommand -s h -l help -d 'Show this help.'
        complete -c migrate -n __fish_use_subcommand -l version -d 'Show the version.'
        \(subcommands)
        complete -c migrate -n __fish_use_subcommand -a help -d '\(CommandTree.helpAbstract)'
        complete -c migrate -n '__fish_seen_subcommand_from help' -a '\(names)'

        """ + tree.commands.map(body).joined()
    }

    private func subcommand(_ command: CommandDescription) -> String {
        "complete -c migrate -n __fish_use_subcommand -a \(command.name) -d "
            + quoting(command.abstract)
    }

    private func group(_ group: CommandGroup) -> String {
        let members = tree.members(of: group).joined(separator: " ")
        let condition =
            "'__fish_seen_subcommand_from \(group.name); "
            + "and not __fish_seen_subcommand_from \(members)'"
        return "complete -c migrate -n __fish_use_subcommand -a \(group.name) -d "
            + quoting(group.abstract) + "\n" + "complete -c migrate -n \(condition) -a '\(members)'"
    }

    private func body(of command: CommandDescription) -> String {
        let name = command.name.split(separator: " ")
        let condition = name.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
        let start = "complete -c migrate -n '\(condition)'"
        let flags = command.flags.map { flag in
            let value = flag.valueName == nil ? "" : " " + self.value(for: flag.completion)
            let short = flag.short.map { " -s \($0)" } ?? ""
            return "\(start)\(short) -l \(flag.name)\(value) -d \(quoting(flag.help))\n"
        }
        let help = "\(start) -s h -l help -d \(quoting(FlagDescription.help.help))\n"
        let arguments = command.arguments.compactMap { argument in
            words(for: argument).map { "\(start) \($0)\n" }
        }
        return "\n" + (flags + [help] + arguments).joined()
    }

    private func value(for completion: ValueCompletion) -> String {
        switch completion {
        case .none: "-x"
        case .file: "-r -F"
        case .directory: "-x -a '(__fish_complete_directories)'"
        case .words(let words): "-x -a '\(words.joined(separator: " "))'"
        }
    }

    private func words(for argument: ArgumentDescription) -> String? {
        if argument.count == .commandLine { return "-x -a '(__fish_complete_subcommand)'" }
        switch argument.completion {
        case .none: return nil
        case .file: return "-F"
        case .directory: return "-a '(__fish_complete_directories)'"
        case .words(let words): return "-a '\(words.joined(separator: " "))'"
        }
    }

    private func quoting(_ text: String) -> String {
        let escaped = text.reduce("") { "'\\".contains($1) ? $0 + "\\\($1)" : $0 + String($1) }
        return "'\(escaped)'"
    }
}
