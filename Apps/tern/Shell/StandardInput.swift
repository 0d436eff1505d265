import Foundation

/// The lines of standard input, as they come.
enum StandardInput {
  /// Ends with the input. To be read once.
  static var lines: AsyncStream<String> {
    let inbox = LineInbox()
    FileHandle.standardInput.readabilityHandler = { handle in
      let data = handle.availableData
      inbox.add(Array(data))
      if data.isEmpty { handle.readabilityHandler = nil }
    }
    return AsyncStream { await inbox.next() }
  }
}
