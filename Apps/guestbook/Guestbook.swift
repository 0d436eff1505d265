import Observation
import TernKit

/// The guestbook as a user interface sees it: a terminal here, SwiftUI elsewhere.
@MainActor @Observable
final class Guestbook {
  /// The server's reason for rejecting the newest write; `nil` when it accepted it.
  private(set) var denial: String?

  private let live: LiveQuery<Entry>
  private let entries: TreeReference
  private let author: String

  /// The newest 20 entries of a database, for the user who is signed in there.
  init(_ tern: TernDatabase) {
    entries = tern.tree["entries"]
    author = tern.auth.currentUser?.uid ?? ""
    live = LiveQuery(entries.orderByKey().last(20))
  }

  /// The entries, the oldest first.
  var shown: [Entry] { live.results }

  /// The entries as lines, with what a user should know below them.
  var lines: [String] {
    let pending = live.pendingIndices
    return shown.enumerated().map { index, entry in
      "\(entry.author): \(entry.text)" + (pending.contains(index) ? " (not confirmed yet)" : "")
    } + [live.error?.localizedDescription, denial].compactMap { $0 }
  }

  /// Writes an entry, in the user's own name unless another one is given.
  ///
  /// The entry shows at once. Returns when the server has accepted it, or rejected it: then it is
  /// gone again, and ``denial`` says why.
  func sign(_ text: String, as other: String? = nil) async {
    let entry = Entry(author: other ?? author, text: text)
    await decide { try await self.entries.push(from: entry).write }
  }

  /// Removes an entry, which the server allows to its author alone.
  func remove(_ entry: Entry) async {
    guard let id = entry.id else { return }
    await decide { try await self.entries[id].remove() }
  }

  /// Waits for the server's decision about a write.
  private func decide(_ write: () async throws -> TreeWriteHandle) async {
    do {
      try await write().acknowledged()
      denial = nil
    } catch {
      denial = error.localizedDescription
    }
  }
}
