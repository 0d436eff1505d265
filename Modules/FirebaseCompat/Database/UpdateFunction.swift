/// An update function of a transaction; that it crosses threads is sound because the session alone
/// calls it, one call at a time.
struct UpdateFunction: @unchecked Sendable {
  let body: (MutableData) -> TransactionResult
}
