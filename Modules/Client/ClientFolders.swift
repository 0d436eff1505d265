/// The folders of a client's stores below its own.
package enum ClientFolders {
  /// Holds the writes of a model.
  package static let queue = "/queue"
  /// Holds the server's data of a model.
  package static let cache = "/cache"
  /// The documents.
  package static let documents = "/documents"

  /// The tree: that of the default database lies in the folder itself, others in one of their own.
  /// Upper-case letters are escaped as well: file systems may ignore case, names do not.
  package static func tree(of namespace: String) -> String {
    if namespace == ClientOptions.defaultNamespace { return "" }
    let plain = Array("abcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    let digits = Array("0123456789ABCDEF")
    let name = namespace.utf8.map { byte in
      plain.contains(byte)
        ? String(Unicode.Scalar(byte)) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }
    return "/trees/" + name.joined()
  }
}
