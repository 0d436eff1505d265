import TernCore
import TernLedger
import TernPresence
import TernQuery
import TernSecurity
import TernStorage
import TernTreeAuthority
import TernTreeRows
import TernTreeWire

/// The writes that sessions leave for the moment they end.
///
/// Each operation is stored in a row when the client leaves it, so that a crash of the server does
/// not lose it. ``TreeService/fire(_:_:_:)`` applies the operations when their session ends; one
/// commit both applies and removes them, so that they happen once.
struct DisconnectService {
  /// The writes of all sessions.
  ///
  /// It holds bytes, whose meaning ``DeferredOperation`` knows.
  var operations: DisconnectOperations
  /// The ended sessions whose writes wait for space on the disk.
  ///
  /// Firing writes rows, which a full disk cannot take. They are fired in order once the server has
  /// space.
  private var waiting: [UInt128] = []

  init(limits: PresenceLimits) {
    operations = DisconnectOperations(
      rows: PresenceRows(prefix: StoreLayout.presence), limits: limits)
  }

  /// Leaves a write for the moment the session ends.
  ///
  /// The rules are asked twice: now, so that the client hears of a denial, and again when the
  /// operation fires, since rules and data may change.
  ///
  /// Server values stay unresolved, because a timestamp means the time of the disconnect.
  mutating func leave(
    _ write: TreeWrite, _ request: TreeRequest, _ call: TreeCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard batch.diskSpace == .ample else {
      return batch.respond(.init(.unavailable, detail: RefusalText.full), to: call)
    }
    do throws(TreeRejection) {
      try call.namespace.authority.check(write)
    } catch {
      return batch.respond(.init(.failed, detail: error.text), to: call)
    }
    let reader = batch.reader
    do throws(StorageError) {
      if let refusal = try call.access.preliminaryRefusal(of: write, batch) {
        return batch.respond(.init(.permissionDenied, detail: refusal.text), to: call)
      }
      // Rules see values, as if it happened now; what is kept are the server values.
      let resolved = try call.namespace.authority.resolve(
        write, now: batch.now, in: Snapshot(reader))
      let refusal = try call.access.writeRefusal(of: resolved.assignments, batch)
      if let refusal {
        return batch.respond(.init(.permissionDenied, detail: refusal.text), to: call)
      }
    } catch {
      guard error.isCorruption else { throw error }
      return batch.respond(.init(.failed, detail: RefusalText.damaged), to: call)
    }
    keep(request, call, &batch)
  }

  /// Takes back what was left at and below a path.
  ///
  /// A cancellation is stored as a further operation unless it leaves none: then all rows of the
  /// session are removed. Where much was left, that is not looked at, because all of it would be
  /// read for each cancellation; the next summary removes what was taken back.
  mutating func takeBack(
    _ path: TreePath, _ request: TreeRequest, _ call: TreeCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let id = call.session.id
    guard let estate = operations.estate(of: id) else {
      return batch.respond(.init(.ok), to: call)
    }
    guard batch.diskSpace == .ample else {
      return batch.respond(.init(.unavailable, detail: RefusalText.full), to: call)
    }
    if Self.leavesNothing(of: estate, takingBack: path), let (_, range) = operations.end(id) {
      batch.add(Commit(mutations: [.remove(range)], record: []))
      return batch.respond(.init(.ok), to: call)
    }
    keep(request, call, &batch, isCancellation: true)
  }

  /// The most bytes that are read to find out if a cancellation leaves nothing.
  private static let examinedBytes = 64 << 10

  private static func leavesNothing(
    of estate: DisconnectOperations.PendingDisconnects, takingBack path: TreePath
  ) -> Bool {
    if path.isRoot { return true }
    guard estate.byteCount <= examinedBytes else { return false }
    var rest = DeferredOperations(estate)
    rest.cancel(at: path)
    return rest.isEmpty
  }

  /// Appends the request to the session's rows. Every ``writesPerSummary`` rows the operations are
  /// replaced by fewer that have the same effect, if that saves enough.
  ///
  /// The first owner is stored with the session; an operation of the same user is stored without
  /// one.
  private mutating func keep(
    _ request: TreeRequest, _ call: TreeCall, _ batch: inout ServerBatch,
    isCancellation: Bool = false
  ) {
    let id = call.session.id
    let owner = SessionOwner(
      call.access.requester, client: call.session.origin?.client,
      credential: call.session.accepted?.authentication)
    let first = operations.estate(of: id).flatMap { SessionOwner($0.owner) } ?? owner
    let operation = DeferredOperation(owner, request).encode(in: first)
    do throws(DisconnectOperations.Refusal) {
      var mutations = Self.puts(
        try operations.append(
          operation, of: id, owner: owner.encode(), isCancellation: isCancellation))
      if let summary = summary(of: id), let (range, rows) = operations.replace(summary, of: id) {
        mutations = mutations.filter { !range.contains($0.range.lower.span) }
        mutations += [.remove(range)] + Self.puts(rows)
      }
      batch.add(Commit(mutations: mutations, record: []))
      batch.respond(.init(.ok), to: call)
    } catch {
      batch.respond(.init(.failed, detail: error.text), to: call)
    }
  }

  /// The number of onDisconnect operations after which they are summarized.
  ///
  /// A summary takes time linear in the session's operations, so that one for each operation would
  /// let a client cause quadratic work.
  private static let writesPerSummary = 64

  /// Fewer requests that leave the same, if there are.
  ///
  /// - Returns: `nil` unless it is time, and at least half of the rows, or beyond the limit 64
  ///   rows, would be saved.
  private func summary(of id: UInt128) -> [[UInt8]]? {
    guard let estate = operations.estate(of: id), !estate.writes.isEmpty,
      estate.writes.count.isMultiple(of: Self.writesPerSummary)
    else { return nil }
    guard let first = SessionOwner(estate.owner) else { return nil }
    let rest = DeferredOperations(estate).assignments
    // Beyond the limit are operations and what took them back; the rest makes room for others.
    let isExcess = estate.writes.count > operations.limits.deferredWrites
    let saved = isExcess ? Self.writesPerSummary : estate.writes.count / 2
    guard rest.count + saved <= estate.writes.count else { return nil }
    let frames = rest.map { owner, entry in
      DeferredOperation(owner, .onDisconnectSet(entry.path, entry.node)).encode(in: first)
    }
    // Those that are summed up to more than a row holds stay apart.
    return frames.allSatisfy { $0.count <= StorageLimits.valueBytes } ? frames : nil
  }

  private static func puts(_ rows: [Row]) -> [Mutation] {
    rows.map { .put(key: $0.key, value: $0.value) }
  }

  /// Removes what an ended session left; `nil` when it left nothing, or when the disk is full: then
  /// it waits for space.
  mutating func end(
    _ id: UInt128, _ batch: borrowing ServerBatch
  ) -> (estate: DisconnectOperations.PendingDisconnects, rows: KeyRange)? {
    guard batch.diskSpace == .ample else {
      if operations.hasWrites(id), !waiting.contains(id) { waiting.append(id) }
      return nil
    }
    return operations.end(id)
  }

  /// Returns the sessions that ended while the disk was full, in order.
  mutating func takeWaiting() -> [UInt128] { exchange(&waiting, with: []) }
}
