/// Decides when a lease that another node holds has expired: when its mark has not changed for the
/// lifetime of leases, measured on the observer's own clock.
///
/// Clocks of two machines are never compared. An observer that was paused sees the mark again
/// before it decides anything, because only observations count.
public struct LeaseWatch: Hashable, Sendable {
  /// The time without renewal after which a lease may be taken over.
  public let lifetime: Duration

  private var mark: LeaseMark?
  private var since = Duration.zero
  private var last = Duration.zero

  /// A watch that has seen nothing.
  public init(lifetime: Duration) {
    self.lifetime = lifetime
  }

  /// Records an observation of the lease, on a clock that does not jump.
  ///
  /// - Parameter now: The time after the answer of the log. The lease may have been renewed right
  ///   before it, however long ago the question was.
  /// - Parameter longestGap: The longest time between two observations that counts. After a longer
  ///   one the observer was paused, and the lease gets a whole lifetime again.
  /// - Returns: The condition under which the lease may be requested: free when it is free or has
  ///   not expired, unchanged when it has expired.
  public mutating func observe(
    _ lease: Lease?, at now: Duration, longestGap: Duration
  ) -> LeaseRequest.Condition {
    let gap = now - last
    last = now
    guard let lease else {
      mark = nil
      return .free
    }
    guard lease.mark == mark, gap <= longestGap else {
      mark = lease.mark
      since = now
      return .free
    }
    return now - since >= lifetime ? .unchanged(lease.mark) : .free
  }

  /// The moment at which the lease expires unless it is renewed; `nil` when it is free.
  public var expiry: Duration? { mark == nil ? nil : since + lifetime }
}
