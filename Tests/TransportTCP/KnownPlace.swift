#if TCP
  import Synchronization
  import TernTransportTCP

  /// The place where clients are served, as one node knows it.
  final class KnownPlace: Sendable {
    private let value: Mutex<NodeRelay.Place>

    init(_ place: NodeRelay.Place) { value = Mutex(place) }

    var place: NodeRelay.Place {
      get { value.withLock { $0 } }
      set { value.withLock { $0 = newValue } }
    }
  }
#endif
