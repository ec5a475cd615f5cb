import Foundation
import MigrationSystem
import TestSupport
import Testing

@Suite(
    .scratchDirectory,
    .enabled(if: Sandbox.isVersion(1), "this kernel has no Landlock"),
    .enabled(if: Sandbox.support.filtersSystemCalls, "this kernel filters no system calls")
)
struct SystemCallTests {
    /// A system call, its error, and the error that it must give when it is confined.
    private struct Probe {
        let name: Substring
        let error: Int32
        let expected: Int32
    }

    private func probes(_ program: TestProgram) throws -> [Probe] {
        try program.run().output.split(separator: "\n").map { line in
            let parts = line.split(separator: ": ")
            let errors = parts.last?.split(separator: " ").compactMap { Int32($0) } ?? []
            try #require(parts.count == 2 && errors.count == 2, "the probe said: \(line)")
            return Probe(name: parts[0], error: errors[0], expected: errors[1])
        }
    }

    @Test func `denies the calls that reach past a process's files`() throws {
        let probes = try probes(try TestProgram(built: "CallProbe").confined())
        #expect(probes.count > 70)
        for probe in probes { #expect(probe.error == probe.expected, "\(probe.name)") }
    }

    @Test(.enabled(if: geteuid() == 0, "only the superuser is denied none of them anyway"))
    func `tries calls that are not denied without a sandbox`() throws {
        for probe in try probes(TestProgram(built: "CallProbe")) {
            #expect(probe.error != EPERM, "\(probe.name)")
        }
    }

    @Test func `reaches no address`() throws {
        let script = "exec 4<>/dev/tcp/127.0.0.1/9"
        var program = TestProgram(script)
        program.executable = "/bin/bash"
        #expect(try program.run().output.contains("Connection refused"))
        #expect(try program.confined().run().output.contains("not permitted"))
    }

    #if arch(x86_64)
    @Test func `ends a program that calls the system as another machine's does`() throws {
        let outcome = try TestProgram(built: "CallProbe", "foreign").confined().run()
        #expect(outcome == TestProgram.Outcome(ending: .signaled(SIGSYS), output: ""))
    }
    #endif

    @Test func `starts a thread that asks for processors and a schedule`() throws {
        let outcome = try TestProgram(built: "CallProbe", "thread").confined().run()
        #expect(outcome.output == "0\n")
    }

    @Test func `leaves threads, pipes and processes be`() throws {
        let program = TestProgram("seq 3 | sort -r --parallel=4 | tail -n 1; (exit 3); echo $?")
        #expect(try program.confined().run().output == "1\n3\n")
    }
}
