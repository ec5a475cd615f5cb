/// The outcome of a run, independent of its form.
struct Report {
    let machine: Machine
    let commandLine: [String]
    let patience: Double
    var sections: [Section] = []
    /// Workloads that were left out or made smaller.
    var notes: [String] = []
}
