public import TernStorage

extension LMDBStore {
  /// Examines the file whole, as an opening does: pages that LMDB copies have no fixed place to go
  /// on from. Writers wait meanwhile, so only a thorough examination does it.
  public func inspectFiles(
    _ inspection: inout StoreInspection, bytes: Int
  ) throws(StorageError) {
    inspection.stage = .rows(after: nil)
    guard inspection.isThorough else { return }
    do throws(StorageError) {
      inspection.bytes += try examineFile()
    } catch {
      guard case .corruptStore(let reason) = error else { throw error }
      inspection.report(.structure, reason)
    }
  }
}
