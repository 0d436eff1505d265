#if TCP
  import NIOCore
  import Synchronization
  import TernTransport

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Android)
    import Android
  #endif

  /// Counts the connections of clients, so that descriptors are left for the program's own files.
  final class ConnectionTable: Sendable {
    /// Descriptors that are never used for connections. They serve the store's files, listeners,
    /// and outgoing connections of the program.
    private static let reserved = 64
    /// The most connections that are accepted and not counted here yet, at each listener. A waiting
    /// connection holds a descriptor already, so the limit leaves this many out as well.
    private static let mostWaiting = 256
    /// The most connections that are counted in at a time, over all addresses.
    private let limit: Int
    /// The most connections that may wait at a listener until they are counted.
    let waitingLimit: Int
    private let shares = Mutex(ConnectionShares())

    /// - Parameters:
    ///   - limit: The most open connections; `.max` for no limit.
    ///   - waitingLimit: The most connections that wait at each listener to be set up.
    init(limit: Int, waitingLimit: Int = mostWaiting) {
      self.limit = limit
      self.waitingLimit = waitingLimit
    }

    /// A table for as many connections as this process may have descriptors, less the reserve.
    ///
    /// At a low soft limit, half of the descriptors is used rather than less: a process with 128
    /// of them still serves 64 clients. The soft limit is read once; a change while the process
    /// runs is not seen.
    static func ofProcess() -> ConnectionTable {
      var limits = rlimit()
      #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      #else
        let resource = RLIMIT_NOFILE
      #endif
      // Safe: the call uses the structure during the call only.
      guard unsafe getrlimit(resource, &limits) == 0 else { return ConnectionTable(limit: .max) }
      let descriptors = Int(clamping: limits.rlim_cur)
      let waiting = min(mostWaiting, descriptors / 8)
      return ConnectionTable(
        limit: max(descriptors / 2, descriptors - reserved - waiting), waitingLimit: waiting)
    }

    /// Counts a connection in; `false`, and not counted, when there are too many.
    func enter(_ address: String) -> Bool {
      shares.withLock { $0.enter(address, limit: limit) }
    }

    /// Counts a connection out. Called once for each connection that ``enter(_:)`` has counted in.
    func leave(_ address: String) { shares.withLock { $0.leave(address) } }

    /// Counts a channel that was just accepted, or is being connected to another node, until it is
    /// closed.
    ///
    /// - Parameter address: The address that it counts for; `nil` for its other end's.
    /// - Throws: ``TooManyConnections``; the channel is to be closed then.
    @discardableResult
    func admit(_ channel: any Channel, as address: String? = nil) throws -> Admission {
      let address = address ?? channel.remoteAddress?.ipAddress ?? "unknown"
      guard enter(address) else { throw TooManyConnections(limit: limit) }
      // The address is read when the channel closes, because a proxy header may have moved it.
      let admission = Admission(address)
      channel.closeFuture.whenComplete { _ in self.leave(admission.address) }
      return admission
    }

    /// The address that an open connection counts for.
    ///
    /// It begins with the socket's peer. A header of a node of the cluster moves it to the client.
    /// Moves happen on the event loop of the channel; the mutex only makes reads elsewhere safe.
    final class Admission: Sendable {
      private let state: Mutex<String>

      var address: String { state.withLock { $0 } }

      fileprivate init(_ address: String) { state = Mutex(address) }

      /// Counts the connection for another address; `false`, and nothing changes, when that one has
      /// too many.
      func move(to address: String, in table: ConnectionTable) -> Bool {
        // Counted in before it is counted out: for a moment the connection counts twice, and
        // never not at all.
        guard table.enter(address) else { return false }
        table.leave(exchange(address))
        return true
      }

      private func exchange(_ address: String) -> String {
        state.withLock { state in
          defer { state = address }
          return state
        }
      }
    }
  }

  /// No descriptor is left for one more connection, or for one more of its address.
  struct TooManyConnections: Error {
    /// The most connections of all addresses.
    let limit: Int
  }
#endif
