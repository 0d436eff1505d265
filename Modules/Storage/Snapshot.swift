/// One consistent state of a store, lent by ``OrderedStore/read(_:)``.
///
/// It cannot leave the closure it was lent to; using it later does not compile.
public struct Snapshot: StoreView, ~Copyable, ~Escapable {
  public let reader: any StoreReader

  /// For backends: wraps their side of a snapshot.
  @_lifetime(borrow reader)
  public init(_ reader: borrowing any StoreReader) {
    self.reader = copy reader
  }
}
