import TernCore
import TernDocumentWire
import TernLedger

/// The shards that the calls of one client of documents belong to. Decisions alone.
struct ShardedCalls: Sendable {
  /// The calls about databases of other shards.
  private var foreign: [UInt32: UInt32] = [:]
  /// The call whose first message has not come, which names its database.
  private var undecided: (call: UInt32, opening: [UInt8], method: DocumentMethod)?
  /// The frames of later calls, which wait for that: numbers of calls only rise.
  private var later: [[UInt8]] = []
  private var laterBytes = 0

  /// The most frames that wait behind a call whose first message has not come, and their bytes:
  /// fewer than those with which a link is paused, behind which the message would never come.
  static let laterFrames = 256
  static let laterBytes = 4 << 20

  /// True for a client with calls at a shard.
  func uses(_ shard: UInt32) -> Bool { foreign.values.contains(shard) }

  mutating func route(_ frame: [UInt8], by directory: any ShardDirectory) -> [ShardedFrame] {
    guard let decoded = try? DocumentClientFrame.decode(frame) else {
      return [ShardedFrame(frame, .here)]
    }
    if let undecided, let call = decoded.call {
      if call > undecided.call {
        guard later.count < Self.laterFrames, laterBytes + frame.count <= Self.laterBytes else {
          return [ShardedFrame(frame, .refused)]
        }
        later.append(frame)
        laterBytes += frame.count
        return []
      }
      if call == undecided.call {
        self.undecided = nil
        let message: [UInt8]? = if case .message(_, let bytes) = decoded { bytes } else { nil }
        let first = route([undecided.opening, frame], of: undecided, message, by: directory)
        if decoded.endsCall { foreign[call] = nil }
        laterBytes = 0
        return first + exchange(&later, with: []).flatMap { route($0, by: directory) }
      }
    }
    switch decoded {
    case .open(let call, let opening):
      guard let method = DocumentMethod(rawValue: opening.method) else { break }
      guard let message = opening.message else {
        undecided = (call, frame, method)
        return []
      }
      return route([frame], of: (call, frame, method), message, by: directory)
    case .message(let call, _), .halfClose(let call):
      if let shard = foreign[call] { return [ShardedFrame(frame, .shard(shard))] }
    case .cancel(let call):
      // None answers a cancellation.
      if let shard = foreign.removeValue(forKey: call) {
        return [ShardedFrame(frame, .shard(shard))]
      }
    case .ping: break
    }
    return [ShardedFrame(frame, .here)]
  }

  private mutating func route(
    _ frames: [[UInt8]], of call: (call: UInt32, opening: [UInt8], method: DocumentMethod),
    _ message: [UInt8]?, by directory: any ShardDirectory
  ) -> [ShardedFrame] {
    // A message that names no database is refused here, in the words of the service.
    let name = message.flatMap { Self.databaseName(in: $0, of: call.method) }
    let shard = name.map { directory.table.shard(of: $0) } ?? directory.own
    if shard == directory.own { return frames.map { ShardedFrame($0, .here) } }
    foreign[call.call] = shard
    return frames.map { ShardedFrame($0, .shard(shard)) }
  }

  private static func databaseName(in message: [UInt8], of method: DocumentMethod) -> String? {
    if let name = DocumentRequest.databaseName(in: message, of: method) { return name }
    // One that leaves the field out may name its database in another place.
    let request = try? DocumentRequest.decode(method, message)
    return request?.database.resourceName
  }

  /// Returns true when a frame of the node that leads another shard is for the client.
  mutating func receives(_ frame: [UInt8], from shard: UInt32) -> Bool {
    guard let decoded = try? DocumentServerFrame.decode(frame) else { return false }
    switch decoded {
    case .message(let call, _): return foreign[call] == shard
    case .answer(let call, _), .end(let call, _):
      guard foreign[call] == shard else { return false }
      foreign[call] = nil
      return true
    case .pong: return false
    }
  }

  /// Loses the link to the node that leads a shard.
  ///
  /// - Returns: The ends of the calls that it was to answer.
  mutating func lose(_ shard: UInt32, _ text: String) -> [[UInt8]] {
    let calls = foreign.filter { $0.value == shard }.keys.sorted()
    for call in calls { foreign[call] = nil }
    let status = DocumentStatus(.unavailable, text)
    return calls.map { DocumentServerFrame.end(stream: $0, status).encode() }
  }
}

extension DocumentClientFrame {
  /// True when the client wants no answer to the call any more.
  fileprivate var endsCall: Bool { if case .cancel = self { true } else { false } }
}
