import Foundation
import Synchronization

/// The notes for developers on standard error.
enum DebugLog {
  /// A model whose connections are noted.
  enum Topic: Sendable { case tree, documents }

  /// Firebase's switches are global to a program, and so are these.
  private static let enabled = Mutex<Set<Topic>>([])

  static func setEnabled(_ isEnabled: Bool, for topic: Topic) {
    enabled.withLock { topics in
      if isEnabled { topics.insert(topic) } else { topics.remove(topic) }
    }
  }

  static func isEnabled(_ topic: Topic) -> Bool { enabled.withLock { $0.contains(topic) } }

  /// Writes a note if its topic is asked for.
  static func note(_ topic: Topic, _ text: @autoclosure () -> String) {
    if isEnabled(topic) { write(text()) }
  }

  /// Writes a line.
  static func write(_ text: String) {
    FileHandle.standardError.write(Data("Tern: \(text)\n".utf8))
  }
}
