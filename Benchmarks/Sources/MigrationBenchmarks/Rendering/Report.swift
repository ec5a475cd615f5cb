/// The outcome of a run, before it takes a form.
struct Report {
    let machine: Machine
    let commandLine: [String]
    let patience: Double
    var sections: [Section] = []
    /// What was left out or made smaller.
    var notes: [String] = []
}
