import TernCore
import TernDocumentAuthority
import TernSecurity

/// The addresses of the watchers of one subject, so that frames are shared.
///
/// Clients of one kind number their calls and targets alike; those have one frame.
///
/// It is computed from a group's subscribers and kept with the group until they change. Fan-out
/// compares it by identity: equal identity means that the recipients are still the same.
final class WatchAddresses {
  /// The links whose frames are alike.
  struct Shared {
    let call: UInt32
    let target: Int32
    fileprivate(set) var slots: [Int]
  }

  /// Those who ask as one: what one of them may have, all may.
  struct Asker {
    fileprivate let identity: Identity
    fileprivate let isLocal: Bool
    fileprivate(set) var subscribers: [WatchSubscriber]

    func requester(in database: OpenDatabase) -> Requester {
      Requester(identity, isLocal: isLocal, namespace: database.name.resourceName)
    }
  }

  private struct Origin: Hashable {
    let identity: Identity
    let isLocal: Bool
  }

  private struct Name: Hashable {
    let call: UInt32
    let target: Int32
  }

  private(set) var shared: [Shared] = []
  private(set) var askers: [Asker] = []
  /// The streams that are told, each once.
  private(set) var streams: [Int] = []
  /// The time of the latest message to each of them.
  private(set) var pulses: [ListenPulse] = []
  /// The recipients of messages about all targets of a stream: for each number of a call the links,
  /// each once. Where possible the links of ``shared``, not a copy.
  private(set) var wholes: [(call: UInt32, slots: [Int])] = []

  /// - Parameter calls: The listen calls by the number of their stream.
  init(_ subscribers: [WatchSubscriber], _ calls: [Int: DocumentCall]) {
    var positions: [Name: Int] = [:]
    var known: [Origin: Int] = [:]
    var seen: Set<Int> = []
    for subscriber in subscribers {
      guard let call = calls[subscriber.stream] else { continue }
      if seen.insert(subscriber.stream).inserted {
        streams.append(subscriber.stream)
        pulses.append(call.pulse)
      }
      let origin = Origin(identity: call.identity, isLocal: call.link.isLocal)
      if let position = known[origin] {
        askers[position].subscribers.append(subscriber)
      } else {
        known[origin] = askers.count
        askers.append(
          Asker(identity: origin.identity, isLocal: origin.isLocal, subscribers: [subscriber]))
      }
      let name = Name(call: call.number, target: subscriber.target)
      if let position = positions[name] {
        shared[position].slots.append(call.slot)
      } else {
        positions[name] = shared.count
        shared.append(Shared(call: name.call, target: name.target, slots: [call.slot]))
      }
    }
    joinTargets()
  }

  /// A link may know the thing by several targets of one call.
  private func joinTargets() {
    var positions: [UInt32: Int] = [:]
    // The links of each call that has several targets.
    var known: [UInt32: Set<Int>] = [:]
    for part in shared {
      if let position = positions[part.call] {
        var slots = known.removeValue(forKey: part.call) ?? Set(wholes[position].slots)
        for slot in part.slots where slots.insert(slot).inserted {
          wholes[position].slots.append(slot)
        }
        known[part.call] = slots
      } else {
        positions[part.call] = wholes.count
        wholes.append((part.call, part.slots))
      }
    }
  }
}
