import TernDocumentEngine

/// Where everybody who watches one thing is told, so that frames are shared.
///
/// Clients of one kind number their calls and targets alike; those have one frame.
final class WatchAddresses {
  /// The links whose frames are alike.
  struct Shared {
    let call: UInt32
    let target: Int32
    fileprivate(set) var slots: [Int]
  }

  private struct Name: Hashable {
    let call: UInt32
    let target: Int32
  }

  private(set) var shared: [Shared] = []
  /// The streams that are told, each once.
  private(set) var streams: [Int] = []

  /// - Parameter calls: The listen calls by the number of their stream.
  init(_ subscribers: [WatchSubscriber], _ calls: [Int: DocumentCall]) {
    var positions: [Name: Int] = [:]
    var seen: Set<Int> = []
    for subscriber in subscribers {
      guard let call = calls[subscriber.stream] else { continue }
      if seen.insert(subscriber.stream).inserted { streams.append(subscriber.stream) }
      let name = Name(call: call.number, target: subscriber.target)
      if let position = positions[name] {
        shared[position].slots.append(call.slot)
      } else {
        positions[name] = shared.count
        shared.append(Shared(call: name.call, target: name.target, slots: [call.slot]))
      }
    }
  }
}

/// The streams that are told the same when nothing but time has passed.
struct WatchShare: Hashable {
  let room: ObjectIdentifier
  let call: UInt32
}
