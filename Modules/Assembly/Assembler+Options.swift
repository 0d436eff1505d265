import TernClient
import TernCore

// What a configuration says about a client beside its parts: the sections `cache` and `documents`.

extension Assembler {
  /// The value of a limit that stands for no limit.
  private static let unlimited = -1

  private struct CacheOptions: Decodable {
    var limitBytes: Int?
  }

  private struct DocumentOptions: Decodable {
    var project: String?
    var database: String?
    var cacheLimitBytes: Int?
    var createsIndexes: Bool?
  }

  /// Returns the configured options over those of `options`.
  func clientOptions(
    of configuration: Configuration, _ options: ClientOptions
  ) throws(ConfigurationError) -> ClientOptions {
    var options = options
    let cache = try SectionReader(section: "cache", ownKeys: [])
      .read(CacheOptions.self, from: configuration.cache)
    if let bytes = cache.limitBytes {
      options.cacheLimitBytes = try limit(bytes, "limitBytes", "cache")
    }
    let documents = try SectionReader(section: "documents", ownKeys: [])
      .read(DocumentOptions.self, from: configuration.documents)
    if let bytes = documents.cacheLimitBytes {
      options.documentCacheLimitBytes = try limit(bytes, "cacheLimitBytes", "documents")
    }
    if let createsIndexes = documents.createsIndexes {
      options.createsDocumentIndexes = createsIndexes
    }
    if documents.project != nil || documents.database != nil {
      options.documents = try database(documents, options.documents)
    }
    return options
  }

  private func limit(
    _ bytes: Int, _ key: String, _ section: String
  ) throws(ConfigurationError) -> Int? {
    if bytes == Self.unlimited { return nil }
    guard bytes >= ClientLimits.cacheBytes else {
      let reason =
        "\"\(key)\" must be at least \(ClientLimits.cacheBytes), or -1 for no limit, not \(bytes)"
      throw .refused(section: section, reason: reason)
    }
    return bytes
  }

  private func database(
    _ options: DocumentOptions, _ standard: DocumentDatabase?
  ) throws(ConfigurationError) -> DocumentDatabase {
    do throws(DocumentError) {
      return try DocumentDatabase(
        projectID: options.project ?? standard?.projectID ?? "tern",
        databaseID: options.database ?? standard?.databaseID ?? DocumentDatabase.defaultID)
    } catch {
      throw .refused(section: "documents", reason: "\(error)")
    }
  }
}
