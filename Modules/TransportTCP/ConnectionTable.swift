#if TCP
  import NIOCore
  import Synchronization

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
    /// Descriptors that are never used for connections.
    private static let reserved = 64
    /// The most connections that are accepted and not counted here yet, at each listener.
    private static let mostWaiting = 256
    private let limit: Int
    /// The most connections that may wait at a listener until they are counted.
    let waitingLimit: Int
    private let shares = Mutex(ConnectionShares())

    init(limit: Int, waitingLimit: Int = mostWaiting) {
      self.limit = limit
      self.waitingLimit = waitingLimit
    }

    /// A table for as many connections as this process may have descriptors, less the reserve.
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
      let admission = Admission(address)
      channel.closeFuture.whenComplete { _ in self.leave(admission.address) }
      return admission
    }

    /// The address that an open connection counts for.
    final class Admission: Sendable {
      private let state: Mutex<String>

      var address: String { state.withLock { $0 } }

      fileprivate init(_ address: String) { state = Mutex(address) }

      /// Counts the connection for another address; `false`, and nothing changes, when that one has
      /// too many.
      func move(to address: String, in table: ConnectionTable) -> Bool {
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
