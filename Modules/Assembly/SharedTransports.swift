import Synchronization
import TernTransport

/// The transports one assembler has open, each shared by the parts that use it.
final class SharedTransports: Sendable {
  private struct Entry {
    let transport: any Transport
    var users: Int
  }

  private let entries = Mutex<[String: Entry]>([:])

  /// The transport of that section: the one that is open, or a new one.
  func acquire(_ prepared: PreparedTransport) throws(AssemblyError) -> any Transport {
    let result = entries.withLock { entries -> Result<any Transport, TransportError> in
      if let entry = entries[prepared.name] {
        entries[prepared.name]?.users += 1
        return .success(entry.transport)
      }
      do throws(TransportError) {
        let transport = try prepared.opening()
        entries[prepared.name] = Entry(transport: transport, users: 1)
        return .success(transport)
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let transport): return transport
    case .failure(let error): throw .transport(error)
    }
  }

  /// Ends one use; the last one shuts the transport down.
  func release(_ name: String) async {
    let last = entries.withLock { entries -> (any Transport)? in
      entries[name]?.users -= 1
      guard let entry = entries[name], entry.users == 0 else { return nil }
      entries[name] = nil
      return entry.transport
    }
    await last?.shutdown()
  }
}
