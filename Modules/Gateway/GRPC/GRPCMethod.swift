import TernCore
import TernDocumentWire

/// The method that the path of a gRPC request names.
enum GRPCMethod: Equatable {
  /// A method of the documents' service, which the server answers.
  case documents(DocumentMethod)
  /// A method that is answered here, without a call to the server.
  case unserved(DocumentStatus)

  /// - Parameter path: `/service/method`, as the client sends it. Any other path is one of an
  ///   unknown method: status 12 (`UNIMPLEMENTED`), in the words of other servers of gRPC.
  init(path: String) {
    if let method = DocumentMethod(path: path) {
      self = .documents(method)
      return
    }
    let name = path.split(separator: "/", omittingEmptySubsequences: true).joined(separator: "/")
    self = .unserved(DocumentStatus(.unimplemented, "Method \(name) is unimplemented"))
  }
}
