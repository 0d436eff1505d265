// Bodies that throw errors of their own. The closures of `OrderedStore` throw only `StorageError`,
// so that backends stay simple; the detour over `abandoned` is made once, here.
extension OrderedStore {
  /// Like ``read(_:)`` for a body that throws an error of its own.
  ///
  /// - Parameter wrap: How a storage error becomes one of the caller's.
  public func read<R, Failure: Error>(
    mapping wrap: (StorageError) -> Failure,
    _ body: (borrowing Snapshot) throws(Failure) -> R
  ) throws(Failure) -> R {
    var failure: Failure?
    do throws(StorageError) {
      return try read { snapshot throws(StorageError) in
        do throws(Failure) { return try body(snapshot) } catch {
          failure = error
          throw .abandoned
        }
      }
    } catch {
      throw failure ?? wrap(error)
    }
  }

  /// Like ``write(_:)`` for a body that throws an error of its own; nothing is written then.
  ///
  /// - Parameter wrap: How a storage error becomes one of the caller's.
  public func write<R, Failure: Error>(
    mapping wrap: (StorageError) -> Failure,
    _ body: (inout WriteTransaction) throws(Failure) -> R
  ) throws(Failure) -> R {
    var failure: Failure?
    do throws(StorageError) {
      return try write { transaction throws(StorageError) in
        do throws(Failure) { return try body(&transaction) } catch {
          failure = error
          throw .abandoned
        }
      }
    } catch {
      throw failure ?? wrap(error)
    }
  }
}
