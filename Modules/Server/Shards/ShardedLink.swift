import TernLedger
import TernTransport
import TernTreeWire

/// A frame of a client with its place: this node, or the node that leads another shard.
typealias ShardedFrame = PlacedFrame<UInt32>

/// One client's link at a node that is not alone with its shard. Lives and is used on the server's
/// executor only.
final class ShardedLink {
  private enum Dialect {
    case unknown
    /// A client of the tree has one database, and all of its frames go where that is; `nil` before
    /// its opening names it.
    case tree(FramePlace<UInt32>?)
    case documents(ShardedCalls)
  }

  /// The ``LinkState/number`` of the client's link.
  let number: Int
  private var dialect = Dialect.unknown
  /// The links to the nodes that lead other shards, by shard.
  var upstreams: [UInt32: ShardUpstream] = [:]

  init(number: Int) { self.number = number }

  /// Places a frame of the client; others that waited for it may come along.
  func route(_ frame: [UInt8], by directory: any ShardDirectory) -> [ShardedFrame] {
    switch dialect {
    case .unknown:
      if DocumentLink.begins(with: frame) {
        dialect = .documents(ShardedCalls())
      } else {
        dialect = .tree(nil)
      }
      return route(frame, by: directory)
    case .tree(nil):
      // An opening is short; what is not would be read as one here.
      if frame.count > LargeFrame.leastBytes { return [ShardedFrame(frame, .refused)] }
      guard let place = Self.place(ofOpening: frame, by: directory) else {
        // What comes before an opening is about no database.
        return [ShardedFrame(frame, .here)]
      }
      dialect = .tree(place)
      return [ShardedFrame(frame, place)]
    case .tree(let place?): return [ShardedFrame(frame, place)]
    case .documents(var calls):
      // Taken out, or each frame would copy it.
      dialect = .unknown
      defer { dialect = .documents(calls) }
      return calls.route(frame, by: directory)
    }
  }

  /// The place of a client whose opening this is; `nil` for other frames.
  private static func place(
    ofOpening frame: [UInt8], by directory: any ShardDirectory
  ) -> FramePlace<UInt32>? {
    guard case .open(let opening)? = try? TreeClientMessage.decode(frame) else { return nil }
    let shard = directory.table.shard(of: opening.namespace)
    return shard == directory.own ? .here : .node(shard)
  }

  /// Returns true when a frame of the node that leads another shard is for the client.
  func receives(_ frame: [UInt8], from shard: UInt32) -> Bool {
    switch dialect {
    case .unknown: return false
    case .tree(let place): return place == .node(shard)
    case .documents(var calls):
      dialect = .unknown
      defer { dialect = .documents(calls) }
      return calls.receives(frame, from: shard)
    }
  }

  /// Loses the link to the node that leads a shard.
  ///
  /// - Returns: What the client is told; `nil` when its own link has to end.
  func lose(_ shard: UInt32, _ text: String) -> [[UInt8]]? {
    guard case .documents(var calls) = dialect else { return nil }
    defer { dialect = .documents(calls) }
    return calls.lose(shard, text)
  }

  /// True for a client with calls at a shard, or whose database is there.
  func uses(_ shard: UInt32) -> Bool {
    switch dialect {
    case .unknown: false
    case .tree(let place): place == .node(shard)
    case .documents(let calls): calls.uses(shard)
    }
  }

  /// The frame that tells a node that leads another shard that the client is there, and that the
  /// node answers.
  var keepAlive: [UInt8] {
    if case .documents = dialect { DocumentRoutes.keepAlive } else { TreeRoutes.keepAlive }
  }
}

/// A link to the node that leads another shard, on behalf of one client.
final class ShardUpstream {
  /// The link that is open or about to be.
  var link: LeaderLink?
  /// The client's address, that it counts for.
  var address = ""
  /// Its end here; `nil` until it is open.
  var carrier: (any Link)?
  /// Frames that wait for that.
  var early: [[UInt8]] = []
  var earlyBytes = 0
  /// The presence of the node.
  var presence = LinkPresence()
  /// The answers to pings of this node that are still to come: none is for the client.
  private var pongs = 0
  /// Bytes of frames that count as waiting for the client.
  var unsentBytes = 0
  /// The uptime, in milliseconds, at which the first attempt to reach the node was made that is not
  /// over.
  var seeking: Int64?
  /// True while the node is looked for, or another attempt is about to be made.
  var isSeekPending = false

  /// Sends a ping.
  func ping(_ frame: [UInt8]) {
    guard let carrier else { return }
    pongs += 1
    carrier.send(frame)
  }

  /// Returns true for a frame that answers a ping of this node.
  func takesPong(_ frame: [UInt8]) -> Bool {
    guard pongs > 0, frame == DocumentRoutes.pong || TreeRoutes.isPong(frame) else { return false }
    pongs -= 1
    return true
  }

  /// Reads from the node, or does not for a while.
  func setReading(_ isReading: Bool) {
    presence.isRead = isReading
    carrier?.setReading(isReading)
  }
}
