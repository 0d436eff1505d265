/// The lines of standard input, as they come.
enum StandardInput {
  /// Ends with the input. To be read once.
  static var lines: AsyncStream<String> {
    let inbox = LineInbox()
    inbox.read(from: 0)
    return AsyncStream { await inbox.next() }
  }
}
