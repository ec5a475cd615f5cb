internal import MigrationCore
internal import MigrationSystem

/// The entry point of the `migrate` command.
@main
struct Migrate {
    static func main() {
        FreedMemory.returnAtOnce()
        let closedStreams: Set<StandardStream>
        let signals: SignalWatch
        do throws(SystemError) {
            closedStreams = try StandardStream.replaceClosed()
        } catch {
            end(because: "/dev/null can't be opened: \(error)")
        }
        do throws(Surroundings.Shortage) {
            try Surroundings.check()
            signals = try SignalWatch.start()
        } catch {
            end(because: error.description)
        }
        CalendarTime.loadTimeZone()
        let context = CommandContext(
            console: Console(closedStreams: closedStreams),
            signals: signals,
            tree: CommandCatalog.tree
        )
        ThisProcess.exit(run(processArguments(), in: context).rawValue)
    }

    /// Prints why the process can't work, and ends it.
    private static func end(because reason: String) -> Never {
        let line = [UInt8]("migrate: error: \(reason)\n".utf8)
        // A console needs open files, which may be missing; without standard error, no message is
        // possible.
        _ = try? StandardStream.write(
            line,
            from: 0,
            count: line.count,
            toNumber: StandardStream.error.rawValue
        )
        ThisProcess.exit(ExitCode.systemTooSmall.rawValue)
    }

    /// Runs one command; a signal cancels it.
    private static func run(_ arguments: [[UInt8]], in context: CommandContext) -> ExitCode {
        withCallingThread {
            await CommandRunner(arguments, in: context).run()
        } started: { task in
            context.signals?.onSignal { task.cancel() }
        }
    }

    /// The words after the program's name, as the bytes that the system passed.
    private static func processArguments() -> [[UInt8]] {
        CommandLine.unsafeArgv.withMemoryRebound(
            to: UnsafePointer<UInt8>?.self,
            capacity: Int(CommandLine.argc)
        ) { words in
            (0..<Int(CommandLine.argc)).dropFirst().compactMap { index in
                words[index].map { word in
                    [UInt8](UnsafeBufferPointer(start: word, count: length(of: word)))
                }
            }
        }
    }

    private static func length(of word: UnsafePointer<UInt8>) -> Int {
        var length = 0
        while word[length] != 0 { length += 1 }
        return length
    }
}
