import TernAssembly

/// The part of a node in its cluster, in words for the operator that starts it.
enum SharedLedgerText {
  /// Returns the part that a configuration gives to its node; `nil` for a server by itself.
  static func part(of configuration: Configuration) -> String? {
    let members = configuration.ledger.members
    guard members["kind"]?.stringValue == "shared" else { return nil }
    let shard = members["shard"]?.canonicalText ?? "0"
    let own = members["shards"] == nil ? "" : ", shard \(shard)"
    let service =
      if members["secretFile"] == nil {
        "serves when it leads"
      } else if members["followers"]?.stringValue == "relay" {
        "serves when it leads, and relays its clients otherwise"
      } else {
        "serves whether it leads or follows"
      }
    return "shared\(own); this node \(service), see /-/readyz"
  }
}
