import TernCore
import TernQuery
import TernSecurity
import TernStorage
import TernTreeWire

/// One request of one session, and its rights.
///
/// A listen under review keeps its call: the rights since the review began are those it is judged
/// by.
struct TreeCall {
  /// The client's number for the request, which the answer repeats.
  let number: UInt64
  let session: Session
  let access: TreeAccess

  var namespace: Namespace { access.namespace }

  /// Judges a listen again; one that is denied now ends, and its client is told.
  func review(_ group: ListenGroup, _ batch: inout ServerBatch) throws(StorageError) {
    guard let (status, detail) = try revalidate(group, batch) else { return }
    namespace.remove(session, from: group)
    let notice = TreeServerMessage.listenRevoked(
      group.node.path, group.query, status, detail: detail)
    batch.send(notice, to: session)
  }

  /// Returns the reason why the session may not listen in a group any more; `nil` when it may.
  private func revalidate(
    _ group: ListenGroup, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> (TreeStatus, String)? {
    do throws(StorageError) {
      let denial = try access.readRefusal(of: group.node.path, group.query, batch)
      return denial.map { (.permissionDenied, $0.text) }
    } catch {
      // A listen that cannot be judged is not allowed.
      guard error.isCorruption else { throw error }
      return (.failed, RefusalText.damaged)
    }
  }
}
