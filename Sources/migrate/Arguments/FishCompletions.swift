/// The completion script for fish.
struct FishCompletions: Sendable {
    let commands: [CommandDescription]

    var script: String {
        let single = commands.filter { !$0.name.contains(" ") }
        let names = (single.map(\.name) + CommandCatalog.groups.map(\.name))
            .joined(separator: " ")
        return """
            # fish completion for migrate; load it with: migrate completions fish | source

            complete -c migrate -f
            complete -c migrate -n __fish_use_subcommand -s h -l help -d 'Show this help.'
            complete -c migrate -n __fish_use_subcommand -l version -d 'Show the version.'
            \((single.map(subcommand) + CommandCatalog.groups.map(group)).joined(separator: "\n"))
            complete -c migrate -n __fish_use_subcommand -a help -d 'Show the help of a subcommand.'
            complete -c migrate -n '__fish_seen_subcommand_from help' -a '\(names)'

            """ + commands.map(body).joined()
    }

    private func subcommand(_ command: CommandDescription) -> String {
        "complete -c migrate -n __fish_use_subcommand -a \(command.name) -d "
            + quoting(command.abstract)
    }

    private func group(_ group: CommandGroup) -> String {
        let members = group.members.joined(separator: " ")
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
        let options = command.options.map { option in
            let value = option.valueName == nil ? "" : " " + self.value(option.completion)
            return "\(start) -l \(option.name)\(value) -d \(quoting(option.help))\n"
        }
        let help = "\(start) -s h -l help -d \(quoting(OptionDescription.help.help))\n"
        let arguments = command.arguments.compactMap { argument in
            words(argument).map { "\(start) \($0)\n" }
        }
        return "\n" + (options + [help] + arguments).joined()
    }

    private func value(_ completion: ValueCompletion) -> String {
        switch completion {
        case .none: "-x"
        case .file: "-r -F"
        case .directory: "-x -a '(__fish_complete_directories)'"
        case .words(let words): "-x -a '\(words.joined(separator: " "))'"
        }
    }

    private func words(_ argument: ArgumentDescription) -> String? {
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
