/// An update function of a transaction: called by the session only, one call at a time.
struct UpdateFunction: @unchecked Sendable {
  let body: (MutableData) -> TransactionResult
}
