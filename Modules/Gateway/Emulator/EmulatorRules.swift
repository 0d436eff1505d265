import TernCore
import TernSecurity
import TernServer

/// Rules that a development server is to use for the documents of a project.
///
/// Source: Firestore server reference, sections 5.2 and 5.3.
struct EmulatorRules: Equatable, Sendable {
  let project: String
  let source: String
  /// True when rules that do not compile are reported with a good status.
  let ignoresErrors: Bool

  /// Reads `{rules: {files: [{name, content}]}, ignore_errors}`.
  ///
  /// Several files are joined with line feeds, so line numbers of errors count over all of them.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a body that is no JSON, has no files, or a file without
  ///   content.
  init(project: String, body: [UInt8]) throws(DocumentRESTError) {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: body)
    } catch {
      throw DocumentRESTError(
        .invalidArgument, "Invalid JSON payload received. \(error.description)")
    }
    guard case .array(let files)? = json["rules"]?["files"], !files.isEmpty else {
      throw DocumentRESTError(.invalidArgument, "The rules have no files.")
    }
    let sources = files.compactMap { $0["content"]?.text }
    guard sources.count == files.count else {
      throw DocumentRESTError(.invalidArgument, "A file of the rules has no content.")
    }
    self.project = project
    source = sources.joined(separator: "\n")
    ignoresErrors = (json["ignore_errors"] ?? json["ignoreErrors"]) == .bool(true)
  }

  /// The request to the server, as its owner's.
  func request(of caller: Caller) -> DirectRequest {
    DirectRequest(
      namespace: "projects/\(project)", isLocal: caller.isLocal, address: caller.address,
      credential: Credential(.service, token: "owner", isLocal: caller.isLocal),
      .setDocumentRules(Array(source.utf8), isTrial: false))
  }

  /// The answer to the client.
  ///
  /// Rules that do not compile are an error of 400, or with ``ignoresErrors`` an answer of 200
  /// that lists the issue; the rules in force stay.
  func response(to answer: DirectAnswer) -> HTTPResponse {
    switch answer {
    case .done: return .json(.object([]))
    case .refused(.invalid(let reason)) where ignoresErrors:
      let issue = JSONValue.object([
        .init("description", .string(reason)), .init("severity", .string("ERROR")),
      ])
      return .json(.object([.init("issues", .array([issue]))]))
    case .refused(.invalid(let reason)):
      return DocumentRESTError(.invalidArgument, "Error compiling rules:\n\(reason)")
        .response(isStream: false)
    case .refused(let refusal):
      return DocumentRESTError(.unavailable, RESTError(refusal).text).response(isStream: false)
    default:
      return DocumentRESTError(.internalError, "The server answered something else.")
        .response(isStream: false)
    }
  }
}
