import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernQuery
import TernStorage

// After everything that is told comes a snapshot, which says as of when it holds.
extension ServerMachine {
  /// Ends what was told in a batch: everything is consistent as of now.
  func tellSnapshots(_ batch: inout ServerBatch) throws(StorageError) {
    let (owed, round) = documents.takeOwed()
    if owed.isEmpty { return }
    try tellSnapshots(to: owed, round, &batch)
  }

  /// Lets streams that were told nothing for a while know at the end that nothing has happened.
  func oweQuietStreams(_ batch: borrowing ServerBatch) {
    let limit = batch.uptime - ServerMachine.heartbeat
    for stream in documents.streams.filter({ $0.value.pulse.lastTold <= limit }).keys.sorted() {
      documents.owe(stream)
    }
  }

  /// How long a listen stream may be told nothing, in milliseconds: 30 seconds.
  private static var heartbeat: Int64 { 30_000 }

  private func tellSnapshots(
    to owed: [SnapshotDebt], _ round: UInt64, _ batch: inout ServerBatch
  ) throws(StorageError) {
    var shares = SnapshotShares(round: round, uptime: batch.uptime)
    for debt in owed {
      switch debt {
      case .stream(let stream):
        guard let call = documents.streams[stream] else { continue }
        call.room?.bodies = [:]
        shares.add(call)
      case .group(let group, let addresses, let room):
        // Who has left since is not told any more.
        if group.notes === addresses, shares.add(addresses, in: room) { continue }
        for stream in addresses.streams { documents.streams[stream].map { shares.add($0) } }
      }
    }
    var frames: [SnapshotShares.Name: (bytes: [UInt8], isEnd: Bool)] = [:]
    for share in shares.all {
      let known = frames[share.name]
      let frame = if let known { known } else { try frame(for: share, batch) }
      frames[share.name] = frame
      if frame.isEnd { closeAll(share.name.call, share.slots) }
      batch.add(.broadcast(slots: share.slots, frame.bytes))
    }
  }

  private func frame(
    for share: SnapshotShares.Share, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> (bytes: [UInt8], isEnd: Bool) {
    let room = share.room
    let number = share.name.call
    do throws(StorageError) {
      let change = try room.watch.snapshot(at: room.readTime, in: batch.reader)
      let message = DocumentResponse.listen(change).encode(room.names)
      return (DocumentServerFrame.message(stream: number, message).encode(), false)
    } catch {
      // Nobody can tell any more as of when anything is consistent.
      let status = try DocumentStatus(damage: error)
      return (DocumentServerFrame.end(stream: number, status).encode(), true)
    }
  }

  /// Forgets the calls of that number on several links.
  private func closeAll(_ number: UInt32, _ slots: [Int]) {
    for slot in slots {
      if let call = sessions[slot]?.documents?.calls[number] { close(call) }
    }
  }
}

/// Who is told a snapshot, together with those whose frame is the same.
struct SnapshotShares {
  /// What frames differ by.
  struct Name: Hashable {
    let room: ObjectIdentifier
    let call: UInt32
  }

  struct Share {
    let room: DocumentRoom
    let name: Name
    fileprivate(set) var slots: [Int]
  }

  private let round: UInt64
  private let uptime: Int64
  private(set) var all: [Share] = []
  /// Where those are who are told by themselves.
  private var positions: [Name: Int] = [:]

  init(round: UInt64, uptime: Int64) {
    self.round = round
    self.uptime = uptime
  }

  /// Adds everybody at those addresses.
  ///
  /// - Returns: `false`, and nobody is added, when somebody of them is told already.
  mutating func add(_ addresses: WatchAddresses, in room: DocumentRoom) -> Bool {
    if addresses.pulses.contains(where: { $0.round == round }) { return false }
    for pulse in addresses.pulses {
      pulse.round = round
      pulse.lastTold = uptime
    }
    for whole in addresses.wholes {
      let name = Name(room: ObjectIdentifier(room), call: whole.call)
      all.append(Share(room: room, name: name, slots: whole.slots))
    }
    return true
  }

  /// Adds one stream, unless it is told already.
  mutating func add(_ call: DocumentCall) {
    guard let room = call.room, call.pulse.round != round else { return }
    call.pulse.round = round
    call.pulse.lastTold = uptime
    let name = Name(room: ObjectIdentifier(room), call: call.number)
    if let position = positions[name] {
      all[position].slots.append(call.slot)
    } else {
      positions[name] = all.count
      all.append(Share(room: room, name: name, slots: [call.slot]))
    }
  }
}
