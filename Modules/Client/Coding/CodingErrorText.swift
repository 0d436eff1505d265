import TernCore
import TernDocumentWire

extension TreeCodingError {
  /// The same error, with the place of the node in front.
  func at(_ place: String) -> TreeCodingError {
    switch self {
    case .invalid(let error): .encoding("\(place): \(error)")
    case .encoding(let text): .encoding("\(place): \(text)")
    case .decoding(let text): .decoding("\(place): \(text)")
    }
  }
}

extension DocumentCodingError {
  /// The same error, with the path of the document in front.
  func at(_ place: String) -> DocumentCodingError {
    switch self {
    case .invalid(let error): .encoding("\(place): \(error.text)")
    case .encoding(let text): .encoding("\(place): \(text)")
    case .decoding(let text): .decoding("\(place): \(text)")
    }
  }
}

/// The text of an error of `Codable`: the path in the value, and the reason.
func codingErrorText(_ error: any Error) -> String {
  let context: (path: [any CodingKey], reason: String)
  switch error {
  case DecodingError.keyNotFound(let key, let found):
    context = (found.codingPath + [key], "there is none")
  case DecodingError.typeMismatch(_, let found), DecodingError.dataCorrupted(let found),
    DecodingError.valueNotFound(_, let found):
    context = (found.codingPath, found.debugDescription)
  case EncodingError.invalidValue(_, let found):
    context = (found.codingPath, found.debugDescription)
  default: return "\(error)"
  }
  let path = context.path.map(\.stringValue).joined(separator: ".")
  return path.isEmpty ? context.reason : "\(path): \(context.reason)"
}
