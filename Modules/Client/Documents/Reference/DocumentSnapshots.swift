import TernCore
import TernDocumentReplica
import TernQuery
import TernSync

/// The events of a listener, as a sequence that ends when its task is cancelled.
public struct DocumentSnapshots<Element: Sendable>: AsyncSequence, Sendable {
  let delivery: ListenSequence<NumberedSnapshot, DocumentsError>
  let make: @Sendable (DocumentQuerySnapshot) -> Element

  public func makeAsyncIterator() -> Iterator {
    Iterator(inner: delivery.makeAsyncIterator(), make: make)
  }

  /// Reads the sequence.
  public struct Iterator: AsyncIteratorProtocol {
    var inner: ListenSequence<NumberedSnapshot, DocumentsError>.Iterator
    let make: @Sendable (DocumentQuerySnapshot) -> Element
    private var last: NumberedSnapshot?

    init(
      inner: ListenSequence<NumberedSnapshot, DocumentsError>.Iterator,
      make: @escaping @Sendable (DocumentQuerySnapshot) -> Element
    ) {
      self.inner = inner
      self.make = make
    }

    /// The next snapshot; `nil` at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(DocumentsError) -> Element? {
      guard let next = try await inner.next(isolation: actor) else { return nil }
      let isNext = next.number == (last?.number ?? 0) + 1
      let snapshot = isNext ? next.snapshot : next.snapshot.since(last?.snapshot)
      last = next
      return make(snapshot)
    }
  }
}

/// A snapshot with its place among those of its listener, from 1.
struct NumberedSnapshot: Sendable {
  let number: UInt64
  let snapshot: DocumentQuerySnapshot
}

extension DocumentQueryReference {
  func delivery<Element: Sendable>(
    _ includesMetadata: Bool, _ source: DocumentListenOptions.Source,
    _ make: @escaping @Sendable (DocumentQuerySnapshot) -> Element
  ) -> DocumentSnapshots<Element> {
    let reference = self
    let options = DocumentListenOptions(includesMetadata: includesMetadata, source: source)
    let delivery = ListenSequence<NumberedSnapshot, DocumentsError>(newest: { box in
      await reference.listen(options, box)
    })
    return DocumentSnapshots(delivery: delivery, make: make)
  }

  /// Registers a mailbox; returns what unregisters it.
  private func listen(
    _ options: DocumentListenOptions, _ box: Mailbox<NumberedSnapshot, DocumentsError>
  ) async -> @Sendable () -> Void {
    let session = documents.session
    do throws(DocumentsError) {
      let query = try checked()
      let counter = SnapshotCounter()
      let owner = documents
      let hearer = DocumentEventHandler(
        heard: { view in
          box.post(
            NumberedSnapshot(number: counter.next(), snapshot: DocumentQuerySnapshot(view, owner)))
        }, ended: { box.fail($0) })
      guard let id = await session.listen(query, options, hearer) else { return {} }
      return {
        box.cancel()
        session.submit { $0.unlisten(id) }
      }
    } catch {
      box.fail(error)
      return {}
    }
  }
}
