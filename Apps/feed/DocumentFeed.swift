import TernKit

/// A feed in documents.
///
/// ```
/// posts/ID                  { author, text, time, stars: [USER] }
/// readers/READER/timeline/ID   { author, text, time }
/// ```
struct DocumentFeed: Feed {
  let documents: Documents
  let user: String

  func post(_ text: String, to readers: [String]) async throws -> String {
    let place = documents.collection("posts").document()
    let post: DocumentInput = [
      "author": .value(.string(user)), "text": .value(.string(text)),
      "time": .transform(.serverTimestamp),
    ]
    var batch = documents.batch()
    batch.set(place, to: post)
    for reader in readers { batch.set(timeline(of: reader).document(place.id), to: post) }
    _ = try await batch.commit()
    return place.id
  }

  func star(_ id: String) async throws {
    try await documents.document("posts/\(id)").update([
      "stars": .transform(.arrayUnion([.string(user)]))
    ])
  }

  func wall(_ count: Int) -> some AsyncSequence<[Post], DocumentsError> {
    documents.collection("posts").order(by: "time").last(count).snapshots().map {
      $0.documents.map(Self.post)
    }
  }

  func timeline(of reader: String, _ count: Int) -> some AsyncSequence<[Post], DocumentsError> {
    timeline(of: reader).order(by: "time").last(count).snapshots().map {
      $0.documents.map(Self.post)
    }
  }

  func setOnline(_ isOnline: Bool) async {
    if isOnline { await documents.goOnline() } else { await documents.goOffline() }
  }

  private func timeline(of reader: String) -> DocumentCollection {
    documents.document("readers/\(reader)").collection("timeline")
  }

  private static func post(_ document: SingleDocumentSnapshot) -> Post {
    var post = Post(
      id: document.id, author: document["author"]?.text ?? "", text: document["text"]?.text ?? "")
    if case .array(let people) = document["stars"] { post.stars = people.count }
    return post
  }
}

extension DocumentValue {
  /// The text of a string, else `nil`.
  fileprivate var text: String? {
    if case .string(let text) = self { text } else { nil }
  }
}
