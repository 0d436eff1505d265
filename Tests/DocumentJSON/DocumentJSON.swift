import SwiftProtobuf
package import TernDocumentWire

/// The JSON form of messages, as REST has it: proto3 JSON, by generated code.
///
/// No door needs it yet. Tests hold the codec of `TernDocumentWire` against it.
///
/// It is made of the binary form and read into it, so that there is one codec for what messages
/// mean. Source: documents reference, section 6.1.
package enum DocumentJSON {
  /// Which message some bytes are.
  package enum Kind: Hashable, Sendable {
    case request(DocumentMethod)
    case response(DocumentMethod)
    /// A document alone, as REST has it in bodies.
    case document
  }

  /// The binary form of a message.
  ///
  /// - Parameter json: At most ``DocumentWireLimits/messageBytes``; members nobody knows are
  ///   left out.
  /// - Throws: ``DocumentWireError/tooLarge(byteCount:limit:)``, or
  ///   ``DocumentWireError/member(_:)`` when the text is not this message.
  package static func binary(
    _ kind: Kind, json: [UInt8]
  ) throws(DocumentWireError) -> [UInt8] {
    let limit = DocumentWireLimits.messageBytes
    if json.count > limit { throw .tooLarge(byteCount: json.count, limit: limit) }
    var options = JSONDecodingOptions()
    options.ignoreUnknownFields = true
    do {
      return try type(of: kind).init(jsonUTF8Bytes: json, options: options).serializedBytes()
    } catch {
      throw .member("the JSON is not this message: \(error)")
    }
  }

  /// The JSON form of a message.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` when the bytes are not this message.
  package static func json(
    _ kind: Kind, binary: [UInt8]
  ) throws(DocumentWireError) -> [UInt8] {
    do {
      let message = try type(of: kind).init(serializedBytes: binary)
      return try message.jsonUTF8Bytes()
    } catch {
      throw .member("the message has no JSON form: \(error)")
    }
  }

  private static func type(of kind: Kind) -> any Message.Type {
    switch kind {
    case .request(let method): method.requestType
    case .response(let method): method.responseType
    case .document: Google_Firestore_V1_Document.self
    }
  }
}

extension DocumentMethod {
  var requestType: any Message.Type {
    switch self {
    case .getDocument: Google_Firestore_V1_GetDocumentRequest.self
    case .listDocuments: Google_Firestore_V1_ListDocumentsRequest.self
    case .createDocument: Google_Firestore_V1_CreateDocumentRequest.self
    case .updateDocument: Google_Firestore_V1_UpdateDocumentRequest.self
    case .deleteDocument: Google_Firestore_V1_DeleteDocumentRequest.self
    case .batchGetDocuments: Google_Firestore_V1_BatchGetDocumentsRequest.self
    case .beginTransaction: Google_Firestore_V1_BeginTransactionRequest.self
    case .commit: Google_Firestore_V1_CommitRequest.self
    case .rollback: Google_Firestore_V1_RollbackRequest.self
    case .runQuery: Google_Firestore_V1_RunQueryRequest.self
    case .runAggregationQuery: Google_Firestore_V1_RunAggregationQueryRequest.self
    case .partitionQuery: Google_Firestore_V1_PartitionQueryRequest.self
    case .listCollectionIDs: Google_Firestore_V1_ListCollectionIdsRequest.self
    case .batchWrite: Google_Firestore_V1_BatchWriteRequest.self
    case .write: Google_Firestore_V1_WriteRequest.self
    case .listen: Google_Firestore_V1_ListenRequest.self
    }
  }

  var responseType: any Message.Type {
    switch self {
    case .getDocument, .createDocument, .updateDocument: Google_Firestore_V1_Document.self
    case .listDocuments: Google_Firestore_V1_ListDocumentsResponse.self
    case .deleteDocument, .rollback: Google_Protobuf_Empty.self
    case .batchGetDocuments: Google_Firestore_V1_BatchGetDocumentsResponse.self
    case .beginTransaction: Google_Firestore_V1_BeginTransactionResponse.self
    case .commit: Google_Firestore_V1_CommitResponse.self
    case .runQuery: Google_Firestore_V1_RunQueryResponse.self
    case .runAggregationQuery: Google_Firestore_V1_RunAggregationQueryResponse.self
    case .partitionQuery: Google_Firestore_V1_PartitionQueryResponse.self
    case .listCollectionIDs: Google_Firestore_V1_ListCollectionIdsResponse.self
    case .batchWrite: Google_Firestore_V1_BatchWriteResponse.self
    case .write: Google_Firestore_V1_WriteResponse.self
    case .listen: Google_Firestore_V1_ListenResponse.self
    }
  }
}
