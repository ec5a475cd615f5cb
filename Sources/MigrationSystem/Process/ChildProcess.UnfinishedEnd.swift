extension ChildProcess {
    /// Why processes may be left of a child that was to be ended with all that it started.
    package enum UnfinishedEnd: Error, Hashable {
        /// Some were not gone after this time; the supervisor goes on killing them.
        case outlasted(Duration)
        /// The supervisor was killed, and the child with it; nobody knows of others.
        case supervisorKilled
    }
}

extension ChildProcess.UnfinishedEnd: CustomStringConvertible {
    package var description: String {
        switch self {
        case .outlasted(let limit):
            "they were being killed for \(limit), and some still run or can't be killed"
        case .supervisorKilled:
            "the process that ends them was killed itself"
        }
    }
}
