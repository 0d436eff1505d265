/// The results of a query as they were decoded last: the next event decodes only what changed.
struct DecodedElements<Key: Hashable, Content: Equatable, Element> {
  private var known: [Key: (content: Content, element: Element)] = [:]

  /// Returns the elements of the next result, in its order.
  ///
  /// - Parameters:
  ///   - items: The next result.
  ///   - key: The name of an item, of which there is one in a result.
  ///   - content: The content from which an item is decoded.
  ///   - decode: Called for each item that is new or has other content.
  /// - Throws: The first error of `decode`; then the elements before stay known.
  mutating func update<Item, Failure: Error>(
    _ items: [Item], key: (Item) -> Key, content: (Item) -> Content,
    _ decode: (Item) throws(Failure) -> Element
  ) throws(Failure) -> [Element] {
    var next: [Key: (content: Content, element: Element)] = [:]
    next.reserveCapacity(items.count)
    var elements: [Element] = []
    elements.reserveCapacity(items.count)
    for item in items {
      let key = key(item)
      let content = content(item)
      let element: Element
      if let last = known[key], last.content == content {
        element = last.element
      } else {
        element = try decode(item)
      }
      next[key] = (content, element)
      elements.append(element)
    }
    known = next
    return elements
  }
}
