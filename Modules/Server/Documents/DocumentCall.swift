import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernSecurity

/// One call that has not ended. Lives and is used inside the machine only.
final class DocumentCall {
  let number: UInt32
  let method: DocumentMethod
  let identity: Identity
  /// The credential of the caller; `nil` for anonymous ones.
  let accepted: AcceptedCredential?
  unowned let link: DocumentLink
  /// The database; `nil` until the first message named it.
  var database: OpenDatabase?
  /// Of a listen call: the number by which the watch knows it.
  var stream: Int?
  /// Of a listen call: when it was told something.
  private(set) lazy var pulse = ListenPulse()
  /// The memory that its targets are charged with.
  private let charge: ListenCharge
  /// The bytes charged for each target.
  private var targetBytes: [Int32: Int] = [:]
  /// Of a listen call: the last id of a target that this side has chosen; 0 before the first.
  var assignedTarget: Int32 = 0
  /// The rest of a query call, while its answer is under way.
  var runningQuery: RunningQuery?
  /// The rest of a read by name, while its answer is under way.
  var runningGet: RunningGet?
  /// The reads that go on beside the server's executor.
  var readings: [PendingRead] = []
  /// The transaction that its request has begun and that its client was not told of; empty for
  /// none. It ends with the call.
  var untold: [UInt8] = []
  /// Of a write call: what was agreed on in the handshake.
  var handshake: Handshake?

  /// The agreement of a write call.
  struct Handshake {
    /// The client's stream of writes; `nil` for a client that knows of none.
    let stream: UInt128?
    /// The number of answers given.
    var answers: UInt64 = 0
  }

  init(
    _ number: UInt32, _ method: DocumentMethod, _ identity: Identity,
    _ accepted: AcceptedCredential?, _ link: DocumentLink,
    _ charge: ListenCharge
  ) {
    self.charge = charge
    self.number = number
    self.method = method
    self.identity = identity
    self.accepted = accepted
    self.link = link
  }

  var slot: Int { link.slot }

  /// True while the answer to its only message is under way.
  var isAnswering: Bool {
    runningQuery != nil || runningGet != nil || !method.streamsRequests && !readings.isEmpty
  }

  /// Ends the reads of a target; of all targets for `nil`.
  func cancelReadings(of target: Int32? = nil) {
    for reading in readings where target == nil || reading.target == target {
      // A result that others wait for as well is there already.
      reading.job.cancel()
      database?.prefetches.forget(reading.job)
    }
    readings.removeAll { target == nil || $0.target == target }
  }

  /// Lets another read take the place of one.
  ///
  /// - Returns: Whether there was one.
  func replace(_ old: ReadJob, by new: ReadJob) -> Bool {
    guard let index = readings.firstIndex(where: { $0.job === old }) else { return false }
    readings[index].job = new
    return true
  }

  /// Sends one message of the call.
  func send(_ message: [UInt8], _ batch: inout ServerBatch) {
    let frame = DocumentServerFrame.message(stream: number, message)
    batch.add(.send(slot: slot, frame.encode()))
  }

  /// Charges memory for a target, as far as that was not done.
  ///
  /// - Returns: `false`, and nothing more is charged, when the client's share does not allow it.
  func charge(_ bytes: Int, for target: Int32) -> Bool {
    let more = max(0, bytes - targetBytes[target, default: 0])
    guard charge.add(more) else { return false }
    targetBytes[target, default: 0] += more
    return true
  }

  /// Charges a target that has grown.
  ///
  /// - Returns: `false`, and nothing is charged, when its client may hold no more.
  func chargeMore(_ bytes: Int, for target: Int32) -> Bool {
    guard charge.add(bytes) else { return false }
    targetBytes[target, default: 0] += bytes
    return true
  }

  /// A charge of nothing yet to the same client.
  func anotherCharge() -> ListenCharge { charge.another() }

  /// The memory that all its targets are charged with.
  var chargedBytes: Int { charge.bytes }

  /// Releases what was charged for a target that has ended.
  func release(_ target: Int32) {
    if let bytes = targetBytes.removeValue(forKey: target) { charge.remove(bytes) }
  }

  func requester(in database: OpenDatabase) -> Requester {
    Requester(identity, isLocal: link.isLocal, namespace: database.name.resourceName)
  }
}

/// The time of a listen call's latest message; shared by messages to many calls at once.
final class ListenPulse {
  /// In milliseconds of the uptime.
  var lastTold: Int64 = 0
  /// The round of snapshots in which it had its last one.
  var round: UInt64 = 0
}
