/// A plugin with its options type hidden, for contracts that this module does not know.
package protocol PluginEntry: Sendable {
  /// The kind that selects the plugin.
  var kind: String { get }
}

extension PluginCatalog {
  /// Adds a plugin; a second one of the same contract and kind replaces the first.
  package mutating func add<Entry: PluginEntry>(_ entry: Entry) {
    let contract = ObjectIdentifier(Entry.self)
    others[contract, default: []].removeAll { $0.kind == entry.kind }
    others[contract, default: []].append(entry)
  }

  /// The plugins of one contract, in the order of their registration.
  package func entries<Entry: PluginEntry>(_ type: Entry.Type) -> [Entry] {
    (others[ObjectIdentifier(type)] ?? []).compactMap { $0 as? Entry }
  }
}
