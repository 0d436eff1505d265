import SwiftProtobuf
import TernDocumentWire

extension DocumentMethod {
  /// The generated type of the method's request, of which each has one of its own.
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

  /// The generated type of the method's response. Several methods answer with a document, and some
  /// with nothing.
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
