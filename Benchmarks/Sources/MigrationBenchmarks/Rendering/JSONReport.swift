/// A report as JSON, with every single measurement.
struct JSONReport {
    private let report: Report

    init(_ report: Report) {
        self.report = report
    }

    var text: String {
        let machine = report.machine
        return """
            {
              "version": 2,
              "date": \(string(machine.date)),
              "system": \(string(machine.system)),
              "processor": \(string(machine.processor)),
              "processors": \(machine.processors),
              "memory": \(machine.memory.fixed(places: 0)),
              "arguments": \(list(report.commandLine.map(string))),
              "notes": \(list(report.notes.map(string))),
              "sections": [
            \(report.sections.map(object).joined(separator: ",\n"))
              ]
            }

            """
    }

    private func object(_ section: Section) -> String {
        """
            {
              "workload": \(string(section.subject.name)),
              "entries": \(section.size.entries),
              "bytes": \(section.size.bytes.fixed(places: 0)),
              "place": \(string(section.place)),
              "level": \(section.level),
              "peers": [
        \(section.standings.map { object($0, in: section) }.joined(separator: ",\n"))
              ]
            }
        """
    }

    private func object(_ standing: Standing, in section: Section) -> String {
        let members = Quantity.all.compactMap { quantity -> String? in
            let values = standing.values(quantity)
            guard !values.isEmpty else { return nil }
            let ratio = section.ratio(quantity, of: standing).map { "\($0)" } ?? "null"
            return """
                          \(string(quantity.name)): {
                            "values": \(list(values.map { "\($0)" })),
                            "ratio": \(ratio)
                          }
                """
        }
        return """
                    {
                      "name": \(string(standing.peer.name)),
                      "ranOnce": \(standing.ranOnce),
                      "measurements": {
            \(members.joined(separator: ",\n"))
                      }
                    }
            """
    }

    private func string(_ text: String) -> String { "\"\(text.escapedForJSON)\"" }

    private func list(_ items: [String]) -> String { "[\(items.joined(separator: ", "))]" }
}
