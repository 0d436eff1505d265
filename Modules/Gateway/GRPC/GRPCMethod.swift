import TernCore
import TernDocumentWire

/// The method that the path of a gRPC request names.
enum GRPCMethod: Equatable {
  case documents(DocumentMethod)
  /// A method that is answered here, without a call to the server.
  case unserved(DocumentStatus)

  init(path: String) {
    if let method = DocumentMethod(path: path) {
      self = .documents(method)
      return
    }
    let name = path.split(separator: "/", omittingEmptySubsequences: true).joined(separator: "/")
    self = .unserved(DocumentStatus(.unimplemented, "Method \(name) is unimplemented"))
  }
}
