import TernCore
import TernDocumentWire
import TernLedger

/// The shards that the calls of one client of documents belong to. Decisions alone.
struct ShardedCalls: Sendable {
  /// The calls about databases of other shards.
  private var calls = ForwardedCalls<UInt32>()

  /// True for a client with calls at a shard.
  func uses(_ shard: UInt32) -> Bool { calls.uses(shard) }

  mutating func route(_ frame: [UInt8], by directory: any ShardDirectory) -> [ShardedFrame] {
    calls.route(frame) { method, message in
      guard let message else { return nil }
      // A message that names no database is refused here, in the words of the service.
      guard let name = Self.databaseName(in: message, of: method) else { return .here }
      let shard = directory.table.shard(of: name)
      return shard == directory.own ? .here : .node(shard)
    }
  }

  private static func databaseName(in message: [UInt8], of method: DocumentMethod) -> String? {
    if let name = DocumentRequest.databaseName(in: message, of: method) { return name }
    // One that leaves the field out may name its database in another place.
    let request = try? DocumentRequest.decode(method, message)
    return request?.database.resourceName
  }

  /// Returns true when a frame of the node that leads another shard is for the client.
  mutating func receives(_ frame: [UInt8], from shard: UInt32) -> Bool {
    calls.receive(frame, from: shard) == .forClient
  }

  /// Loses the link to the node that leads a shard.
  ///
  /// - Returns: The ends of the calls that it was to answer.
  mutating func lose(_ shard: UInt32, _ text: String) -> [[UInt8]] { calls.lose(shard, text) }
}
