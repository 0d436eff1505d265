import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// Tells listen calls as of when everything holds that they were told: after each batch.
///
/// A client shows a result only after a message that says as of when all its targets are
/// consistent. One such message follows all changes of a batch, so that a client never sees a part
/// of a commit.
struct DocumentSnapshots {
  let registry: DatabaseRegistry

  /// Ends what was told in a batch: everything is consistent as of now.
  func send(_ sessions: borrowing SessionTable, _ batch: inout ServerBatch) throws(StorageError) {
    let (pending, round) = registry.takePendingSnapshots()
    if pending.isEmpty { return }
    try send(to: pending, round, sessions, &batch)
  }

  /// Lets streams that were told nothing for a while know at the end that nothing has happened.
  ///
  /// The message also moves the client's resume token forward, so that a later resume has less
  /// history to read.
  func remindQuietStreams(_ batch: borrowing ServerBatch) {
    let limit = batch.uptime - Self.heartbeat
    for stream in registry.streams.filter({ $0.value.pulse.lastTold <= limit }).keys.sorted() {
      registry.emit(stream)
    }
  }

  /// The greatest silence of a listen stream, in milliseconds: 30 seconds.
  ///
  /// Shorter than the time after which proxies usually end a silent stream.
  private static var heartbeat: Int64 { 30_000 }

  /// Sends the closing snapshots of a batch.
  ///
  /// Equal frames are encoded once: clients of one kind number their calls alike, and the message
  /// names no target. A group whose addresses are unchanged since the change is served as a whole;
  /// otherwise its streams are looked up one by one.
  private func send(
    to pending: [PendingSnapshot], _ round: UInt64, _ sessions: borrowing SessionTable,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    var shares = SnapshotShares(round: round, uptime: batch.uptime)
    for debt in pending {
      switch debt {
      case .stream(let stream):
        guard let call = registry.streams[stream] else { continue }
        shares.add(call)
      case .group(let group, let addresses, let database):
        // Who has left since is not told any more.
        if group.notes === addresses, shares.add(addresses, in: database) { continue }
        for stream in addresses.streams { registry.streams[stream].map { shares.add($0) } }
      }
    }
    var frames: [SnapshotShares.Name: (bytes: [UInt8], isEnd: Bool)] = [:]
    for share in shares.all {
      let known = frames[share.name]
      let frame = if let known { known } else { try frame(for: share, batch) }
      frames[share.name] = frame
      if frame.isEnd { closeAll(share.name.call, share.slots, sessions) }
      batch.add(.broadcast(slots: share.slots, frame.bytes))
    }
  }

  private func frame(
    for share: SnapshotShares.Share, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> (bytes: [UInt8], isEnd: Bool) {
    let database = share.database
    let number = share.name.call
    do throws(StorageError) {
      let change = try database.watch.snapshot(at: database.readTime, in: batch.reader)
      let message = DocumentResponse.listen(change).encode(database.names)
      return (DocumentServerFrame.message(stream: number, message).encode(), false)
    } catch {
      // No consistent version can be told any more.
      let status = try DocumentStatus(damage: error)
      return (DocumentServerFrame.end(stream: number, status).encode(), true)
    }
  }

  /// Forgets the calls of that number on several links.
  private func closeAll(_ number: UInt32, _ slots: [Int], _ sessions: borrowing SessionTable) {
    for slot in slots {
      if let call = sessions[slot]?.documents?.calls[number] { registry.close(call) }
    }
  }
}
