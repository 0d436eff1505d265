import TernQuery

/// The recipients of a snapshot, grouped by equal frames.
///
/// A frame depends on the database and the call's number, and on nothing else.
/// ``ListenPulse/round`` marks the calls that have their snapshot already, so that each call gets
/// one for a batch.
struct SnapshotShares {
  /// The key by which frames differ.
  struct Name: Hashable {
    let database: ObjectIdentifier
    let call: UInt32
  }

  struct Share {
    let database: OpenDatabase
    let name: Name
    fileprivate(set) var slots: [Int]
  }

  private let round: UInt64
  private let uptime: Int64
  private(set) var all: [Share] = []
  /// The positions of the recipients with a frame of their own.
  private var positions: [Name: Int] = [:]

  init(round: UInt64, uptime: Int64) {
    self.round = round
    self.uptime = uptime
  }

  /// Adds all listens at those addresses.
  ///
  /// - Returns: `false`, and none is added, when one of them is told already.
  mutating func add(_ addresses: WatchAddresses, in database: OpenDatabase) -> Bool {
    if addresses.pulses.contains(where: { $0.round == round }) { return false }
    for pulse in addresses.pulses {
      pulse.round = round
      pulse.lastTold = uptime
    }
    for whole in addresses.wholes {
      let name = Name(database: ObjectIdentifier(database), call: whole.call)
      all.append(Share(database: database, name: name, slots: whole.slots))
    }
    return true
  }

  /// Adds one stream, unless it is told already.
  mutating func add(_ call: DocumentCall) {
    guard let database = call.database, call.pulse.round != round else { return }
    call.pulse.round = round
    call.pulse.lastTold = uptime
    let name = Name(database: ObjectIdentifier(database), call: call.number)
    if let position = positions[name] {
      all[position].slots.append(call.slot)
    } else {
      positions[name] = all.count
      all.append(Share(database: database, name: name, slots: [call.slot]))
    }
  }
}
