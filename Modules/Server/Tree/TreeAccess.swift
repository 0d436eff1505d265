import TernCore
import TernQuery
import TernSecurity
import TernStorage
import TernTreeAuthority
import TernTreeRows
import TernTreeWire

/// The rights of one requester in one database of trees.
///
/// It is made anew for each request, so that it never outlives a change of identity or rules.
struct TreeAccess {
  let namespace: Namespace
  let requester: Requester
  /// Decides about the database.
  let authorizer: any Authorizer
  /// The most that a write may change; `nil` for any amount.
  ///
  /// From the request if it names one, else from the settings of the database.
  var writeSizeLimit: WriteSizeLimit?

  /// Returns the denial of a read; `nil` when the requester may read.
  ///
  /// A verdict that the rules cannot decide counts as a denial here: all data are at hand, so
  /// nothing remains that could decide it.
  ///
  /// - Throws: Corruption that the rules met. Callers that catch it deny the access, or report
  ///   damaged data.
  func readRefusal(
    of path: TreePath, _ query: TreeQuery, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> AccessRefusal? {
    let reading = TreeReading(namespace.rows, batch.reader)
    let request = TreeReadRequest(path, query, by: requester, now: batch.now)
    let verdict = authorizer.mayRead(request, in: reading.state)
    try reading.finish()
    return verdict.certainRefusal
  }

  /// Returns the rejection of a session's read; `nil` when it may read.
  ///
  /// - Returns: A complete response; its text says if the path or the rules are the reason.
  func refusal(
    of path: TreePath, _ query: TreeQuery, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> TreeResponse? {
    if path.isInfo { return .init(.failed, detail: "Only the client itself knows \(path).") }
    let limit = TreeLimits.storedPathBytes
    if path.byteCount > limit {
      return .init(.failed, detail: TreeError.pathTooLong(path, limitBytes: limit).text)
    }
    return try readRefusal(of: path, query, batch).map {
      .init(.permissionDenied, detail: $0.text)
    }
  }

  /// Returns the denial of a write whose server values are resolved; `nil` when it may be made.
  ///
  /// - Parameter assignments: The resolved values by path. Rules see them as the new data, and the
  ///   store as the old.
  func writeRefusal(
    of assignments: [TreeMerge.Entry], _ batch: borrowing ServerBatch
  ) throws(StorageError) -> AccessRefusal? {
    let reading = TreeReading(namespace.rows, batch.reader)
    let request = TreeWriteRequest(assignments, by: requester, now: batch.now)
    let verdict = authorizer.mayWrite(request, in: reading.state)
    try reading.finish()
    return verdict.certainRefusal
  }

  /// Returns the denial of a write with server values that can be told without reading what they
  /// add to; `nil` for every other write.
  func preliminaryRefusal(
    of write: TreeWrite, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> AccessRefusal? {
    let assignments = write.assignments
    guard assignments.contains(where: { $0.node.containsServerValues }) else { return nil }
    return try preliminaryRefusal(ofWriting: assignments.map(\.path), batch)
  }

  /// Returns the denial of a write that its paths alone suffice for, else ``DirectAnswer/done``.
  ///
  /// Used for large writes, which are judged by their paths before their data are parsed.
  func certainDenial(
    ofWriting paths: [TreePath], _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    do throws(StorageError) {
      let denial = try preliminaryRefusal(ofWriting: paths, batch)
      return denial.map { .refused(.permissionDenied($0)) } ?? .done
    } catch {
      // The write itself meets the damage, and its answer says so.
      guard error.isCorruption else { throw error }
      return .done
    }
  }

  /// Returns the denial of a write that holds whatever its data are; `nil` when there is none.
  func preliminaryRefusal(
    ofWriting paths: [TreePath], _ batch: borrowing ServerBatch
  ) throws(StorageError) -> AccessRefusal? {
    let reading = TreeReading(namespace.rows, batch.reader)
    let request = TreeWriteRequest(to: paths, by: requester, now: batch.now)
    let verdict = authorizer.mayWrite(request, in: reading.state)
    try reading.finish()
    return verdict.refusal
  }

  /// Returns true when a query names an order that has an index, or needs none.
  func isIndexed(_ query: TreeQuery, at path: TreePath) -> Bool {
    (authorizer as? any TreeIndexing)?.hasIndex(for: query.order, at: path) ?? true
  }

  /// The rejection of a query that needs an index.
  static func indexText(_ query: TreeQuery, at path: TreePath) -> String {
    let index: String
    switch query.order {
    case .key: index = ".key"
    case .priority: index = ".priority"
    case .value: index = ".value"
    case .child(let child): index = child.text
    }
    return "Index not defined, add \".indexOn\": \"\(index)\", for path \"/\(path)\", to the rules"
  }

  /// Returns true when a write changes more than it may: its own data, and the data it replaces.
  ///
  /// The size of data that the requester may not read does not count, because the answer would
  /// tell it.
  ///
  /// Each size is measured up to what is left of the limit, so that the cost is bounded by the
  /// limit and not by the data.
  func isTooLarge(
    _ write: TreeWrite, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Bool {
    guard var left = writeSizeLimit?.bytes else { return false }
    let reader = batch.reader
    for assignment in write.assignments {
      left -= assignment.node.jsonBytes(.export).count
      guard left >= 0 else { return true }
      let path = assignment.path
      let node = path.namesPriority ? path.parent ?? .root : path
      if try readRefusal(of: node, .all, batch) != nil { continue }
      guard
        let present = try namespace.rows.size(
          at: path, limitBytes: left, in: Snapshot(reader))
      else { return true }
      left -= present
    }
    return false
  }
}

extension TreeVerdict {
  /// The denial where everything is known, so that nothing can be undecided.
  fileprivate var certainRefusal: AccessRefusal? { self == .undecided ? AccessRefusal() : refusal }
}
