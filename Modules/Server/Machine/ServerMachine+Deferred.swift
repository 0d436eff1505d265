import TernCore
import TernLedger
import TernPresence
import TernSecurity
import TernStorage
import TernTreeEngine
import TernTreeWire

// Writes for the moment a session ends. They are kept as the requests that asked for them, each with
// its user; how they overlap is worked out when they are needed. Source: realtime reference, section
// 8.2.
extension ServerMachine {
  /// Leaves a write for the moment the session ends.
  mutating func leave(
    _ write: TreeWrite, _ request: TreeRequest, _ call: ServerCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard diskRoom == .ample else {
      return respond(.init(.unavailable, detail: Self.fullText), to: call, &batch)
    }
    do throws(TreeRejection) {
      try call.namespace.authority.check(write)
    } catch {
      return respond(.init(.failed, detail: error.text), to: call, &batch)
    }
    let requester = call.session.requester(in: call.namespace)
    let reader = batch.reader
    do throws(StorageError) {
      if let refusal = try preliminaryRefusal(of: write, requester, call.namespace, batch) {
        return respond(.init(.permissionDenied, detail: refusal.text), to: call, &batch)
      }
      // Rules see values, as if it happened now; what is kept are the server values.
      let resolved = try call.namespace.authority.resolve(
        write, now: batch.now, in: Snapshot(reader))
      let refusal = try refusal(of: resolved.assignments, requester, call.namespace, batch)
      if let refusal {
        return respond(.init(.permissionDenied, detail: refusal.text), to: call, &batch)
      }
    } catch {
      guard error.isCorruption else { throw error }
      return respond(.init(.failed, detail: Self.damageText), to: call, &batch)
    }
    keep(request, call, &batch)
  }

  /// Takes back what was left at and below a path.
  mutating func takeBack(
    _ path: TreePath, _ request: TreeRequest, _ call: ServerCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let id = call.session.id
    guard let estate = presence.estate(of: id) else {
      return respond(.init(.ok), to: call, &batch)
    }
    guard diskRoom == .ample else {
      return respond(.init(.unavailable, detail: Self.fullText), to: call, &batch)
    }
    var operations = DeferredOperations(estate)
    operations.cancel(at: path)
    if operations.isEmpty, let (_, range) = presence.end(id) {
      commit([.remove(range)], [], &batch)
      return respond(.init(.ok), to: call, &batch)
    }
    keep(request, call, &batch)
  }

  private mutating func keep(
    _ request: TreeRequest, _ call: ServerCall, _ batch: inout ServerBatch
  ) {
    let id = call.session.id
    let owner = SessionOwner(
      call.session.requester(in: call.namespace), client: call.session.origin?.client,
      credential: call.session.accepted?.authentication)
    let first = presence.estate(of: id).flatMap { SessionOwner($0.owner) } ?? owner
    let operation = DeferredOperation(owner, request).encode(in: first)
    do throws(PresenceBook.Refusal) {
      var mutations = Self.puts(try presence.append(operation, of: id, owner: owner.encode()))
      if let summary = summary(of: id), let (range, rows) = presence.replace(summary, of: id) {
        mutations = mutations.filter { !range.contains($0.range.lower.span) }
        mutations += [.remove(range)] + Self.puts(rows)
      }
      commit(mutations, [], &batch)
      respond(.init(.ok), to: call, &batch)
    } catch {
      respond(.init(.failed, detail: error.text), to: call, &batch)
    }
  }

  /// How many deferred writes pile up before it is tried to sum them up.
  private static let writesPerSummary = 64

  /// Fewer requests that leave the same, if there are.
  private func summary(of id: UInt128) -> [[UInt8]]? {
    guard let estate = presence.estate(of: id), !estate.writes.isEmpty,
      estate.writes.count.isMultiple(of: Self.writesPerSummary)
    else { return nil }
    guard let first = SessionOwner(estate.owner) else { return nil }
    let rest = DeferredOperations(estate).assignments
    guard rest.count * 2 <= estate.writes.count else { return nil }
    let frames = rest.map { owner, entry in
      DeferredOperation(owner, .onDisconnectSet(entry.path, entry.node)).encode(in: first)
    }
    // Those that are summed up to more than a row holds stay apart.
    return frames.allSatisfy { $0.count <= StorageLimits.valueBytes } ? frames : nil
  }

  /// Lets happen what an ended session left, in one commit that also forgets it; on a full disk as
  /// soon as there is room.
  mutating func fire(_ id: UInt128, _ batch: inout ServerBatch) throws(StorageError) {
    guard diskRoom == .ample else {
      if presence.hasWrites(id), !waitingToFire.contains(id) { waitingToFire.append(id) }
      return
    }
    guard let (estate, range) = presence.end(id) else { return }
    guard let owner = SessionOwner(estate.owner) else {
      return commit([.remove(range)], [], &batch)
    }
    let namespace = namespaceOrTransient(owner.requester.namespace)
    var mutations: [Mutation] = [.remove(range)]
    // Later operations may lie at, above or below earlier ones of other users; what all of them
    // together have changed is one commit and one push.
    var changed = DeferredTree()
    for (owner, entry) in DeferredOperations(estate).assignments {
      // What is no longer allowed is dropped without a word: nobody is there to hear it. So is what
      // meets damage, and what a user left whose credential was revoked; the rest still happens.
      if isRevoked(owner, batch) { continue }
      let write = TreeWrite.set(entry.path, entry.node)
      do throws(StorageError) {
        let reader = batch.reader
        let resolved = try namespace.authority.resolve(
          write, now: batch.now, in: Snapshot(reader))
        let refusal = try refusal(of: resolved.assignments, owner.requester, namespace, batch)
        if refusal != nil { continue }
        mutations += try namespace.authority.apply(
          resolved, to: batch.changes, knowing: namespace.places)
        changed.leave(resolved)
      } catch {
        if error.isExcess { continue }
        guard error.isCorruption else { throw error }
      }
    }
    let entries = changed.assignments
    if entries.isEmpty { return commit(mutations, [], &batch) }
    commit(mutations, TreeRecord(of: entries, in: namespace.rows).encode(), &batch)
    // It is one commit, so it is one push: nobody sees a part of it.
    let whole =
      entries.count == 1
      ? TreeWrite.set(entries[0].path, entries[0].node)
      : TreeWrite.merge(.root, TreeMerge(unchecked: entries))
    var fanOut = FanOut(of: whole, in: namespace, batch)
    try fanOut.deliver(to: &batch)
  }

  private mutating func commit(
    _ mutations: [Mutation], _ record: [UInt8], _ batch: inout ServerBatch
  ) {
    batch.add(Commit(mutations: mutations, record: record))
  }

  private static func puts(_ rows: [Row]) -> [Mutation] {
    rows.map { .put(key: $0.key, value: $0.value) }
  }
}
