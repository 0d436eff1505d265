package import TernCore
package import TernDocumentEngine
import TernDocumentWire
import TernSync

/// A batch as the durable queue holds it. Source: Docs/Formats/write-queue.md, section on documents.
package enum DocumentBatchRecord {
  private static let version: UInt8 = 1

  static func encode(_ batch: DocumentBatch, in database: DocumentDatabase) -> [UInt8] {
    var bytes = [version]
    bytes.append(text: batch.user)
    bytes.append(integer: batch.localWriteTime.microseconds)
    bytes.append(counted: message(batch.baseMutations, database))
    return bytes + message(batch.mutations, database)
  }

  /// Reads a batch; `nil` when the bytes are none.
  ///
  /// - Parameter id: The name the batch gets in this run.
  package static func decode(
    _ bytes: [UInt8], id: UInt64, in database: DocumentDatabase
  ) -> DocumentBatch? {
    var reader = RecordReader(bytes)
    guard reader.byte() == version, let user = reader.text(),
      let time: Int64 = reader.integer(), let bases = reader.counted(),
      let baseMutations = mutations(bases, database),
      let mutations = mutations(reader.rest(), database)
    else { return nil }
    return DocumentBatch(
      id: id, user: user, localWriteTime: DocumentTimestamp(uncheckedMicroseconds: time),
      baseMutations: baseMutations, mutations: mutations)
  }

  /// The writes as the message that would commit them.
  private static func message(
    _ mutations: [DocumentMutation], _ database: DocumentDatabase
  ) -> [UInt8] {
    DocumentRequest(.commit(mutations, transaction: [], nil), in: database).encode()
  }

  private static func mutations(
    _ message: [UInt8], _ database: DocumentDatabase
  ) -> [DocumentMutation]? {
    guard let request = try? DocumentRequest.decode(.commit, message, in: database),
      case .commit(let mutations, _, _) = request.body
    else { return nil }
    return mutations
  }
}
