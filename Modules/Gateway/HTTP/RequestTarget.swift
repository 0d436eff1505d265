/// The target of a request, taken apart and decoded.
struct RequestTarget: Equatable, Sendable {
  /// The path, its escapes resolved; begins with a slash.
  let path: String
  /// In the order they were given.
  let parameters: [Parameter]

  /// One name and value behind the `?`.
  struct Parameter: Equatable, Sendable {
    let name: String
    let value: String
  }

  /// Takes a target apart; `nil` when an escape is malformed, or does not stand for UTF-8.
  ///
  /// A plus is a space in parameters and itself in the path.
  init?(_ target: String) {
    let bytes = Array(target.utf8)
    let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
    guard bytes.first == UInt8(ascii: "/"),
      let path = Self.decode(bytes[..<mark], plusIsSpace: false)
    else { return nil }
    self.path = path
    var parameters: [Parameter] = []
    for part in bytes[mark...].dropFirst().split(separator: UInt8(ascii: "&")) {
      let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
      guard let name = Self.decode(part[..<equals], plusIsSpace: true),
        let value = Self.decode(part[equals...].dropFirst(), plusIsSpace: true)
      else { return nil }
      parameters.append(Parameter(name: name, value: value))
    }
    self.parameters = parameters
  }

  private init(path: String, parameters: [Parameter]) {
    self.path = path
    self.parameters = parameters
  }

  /// The path of the root, without parameters.
  static let root = RequestTarget(path: "/", parameters: [])

  /// The same parameters at another path.
  func at(_ path: String) -> RequestTarget { RequestTarget(path: path, parameters: parameters) }

  /// The same path with further parameters.
  func adding(_ parameters: [Parameter]) -> RequestTarget {
    RequestTarget(path: path, parameters: self.parameters + parameters)
  }

  /// The value of a parameter; the last one counts.
  ///
  /// O(*n*) in the parameters.
  subscript(name: String) -> String? {
    parameters.last { $0.name == name }?.value
  }

  private static func decode(_ bytes: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
    unescaped(bytes, plusIsSpace: plusIsSpace).flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// Returns bytes with their escapes resolved; `nil` when one is malformed.
  ///
  /// - Parameter plusIsSpace: True for parameters and forms.
  static func unescaped(_ bytes: some Collection<UInt8>, plusIsSpace: Bool) -> [UInt8]? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.next().flatMap(Self.digit), let low = rest.next().flatMap(Self.digit)
        else { return nil }
        decoded.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
      default: decoded.append(byte)
      }
    }
    return decoded
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
