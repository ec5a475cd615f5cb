extension UInt64 {
    /// Adds `number`, or becomes the greatest number: sparse files may have any size.
    package mutating func addSaturating(_ number: UInt64) {
        let (sum, overflow) = addingReportingOverflow(number)
        self = overflow ? .max : sum
    }
}
