import Foundation

extension LineInbox {
  /// Reads a descriptor to its end, on a thread of its own: a read that waits blocks no other work.
  func read(from descriptor: Int32) {
    Thread.detachNewThread { [self] in
      var buffer = [UInt8](repeating: 0, count: 64 * 1_024)
      while true {
        let count = unsafe Foundation.read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        add(Array(buffer.prefix(max(0, count))))
        if count <= 0 { break }
      }
      close(descriptor)
    }
  }
}
