import Synchronization
import TernTransport

/// Counts the memory of frames that are not whole, over all links of one transport.
///
/// One link's is bounded by the frame limit; many that each announce a long frame and never end it
/// would take as much as there is.
final class FrameLoad: Sendable {
  private let limitBytes: Int
  private let bytes = Mutex(0)

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// Counts memory in, or out again.
  ///
  /// - Throws: ``LinkClosure/overloaded(limitBytes:)`` when that is too much; then nothing changes.
  func change(by count: Int) throws(LinkClosure) {
    let fits = bytes.withLock { bytes in
      guard count < 0 || bytes + count <= limitBytes else { return false }
      bytes += count
      return true
    }
    if !fits { throw .overloaded(limitBytes: limitBytes) }
  }

  /// Counts memory out that a link does not need any more.
  func release(_ count: Int) { bytes.withLock { $0 -= count } }
}
