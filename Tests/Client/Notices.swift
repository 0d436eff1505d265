import Synchronization
import TernClient

/// The notices that a client gave.
final class Notices: Sendable {
  private let notices = Mutex<[ClientNotice]>([])

  var all: [ClientNotice] { notices.withLock { $0 } }

  @Sendable func add(_ notice: ClientNotice) { notices.withLock { $0.append(notice) } }
}
