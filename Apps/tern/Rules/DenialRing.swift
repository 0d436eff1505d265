import Logging
import Synchronization
import TernServer

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Passes explained denials on to the server whose status tells the latest ones; before there is a
/// server, there are none.
final class DenialRing: Sendable {
  private let server = Mutex<TernServer?>(nil)

  /// Names the server.
  func use(_ server: TernServer) { self.server.withLock { $0 = server } }

  func add(_ id: String?, _ text: String) {
    guard let server = server.withLock({ $0 }) else { return }
    let time = Int64(Date().timeIntervalSince1970 * 1_000)
    server.surroundings.add(RecentDenial(id: id, time: time, text: text))
  }

  /// The metadata of a line about a denial.
  static func metadata(_ id: String?) -> Logger.Metadata {
    id.map { ["denial": "\($0)"] } ?? [:]
  }
}
