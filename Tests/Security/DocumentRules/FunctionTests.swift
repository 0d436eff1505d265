import Foundation
import TernCore
import Testing

@testable import TernSecurity

@Suite("Functions of rules for documents")
struct DocumentRuleFunctionTests {
  @Test func conversions() {
    RuleTable(
      """
      T int(1.9) == 1
      T int(-1.9) == -1
      T int('12') == 12
      T int('-12') == -12
      T int(5) == 5
      T int(1.0) is int
      E int('') == 0
      E int(' 1') == 1
      E int('1.5') == 1
      E int('0x10') == 16
      E int('12abc') == 12
      E int('9223372036854775808') == 0
      E int(true) == 1
      E int(null) == 0
      E int(1e300) == 0
      E int([1]) == 1
      T float('1.5') == 1.5
      T float('1e3') == 1000
      T float(1) == 1
      T float(1) is float
      E float('abc') == 0
      E float('') == 0
      E float('nan') == 0
      E float(true) == 1
      E float(null) == 0
      T string(1) == '1'
      T string(-1) == '-1'
      T string(1.5) == '1.5'
      T string(1.0) == '1.0'
      T string(true) == 'true'
      T string(null) == 'null'
      T string('a') == 'a'
      T string(/a/b) == '/a/b'
      E string([1]) == '[1]'
      E string({}) == '{}'
      E string(timestamp.value(0)) == ''
      E bool('true')
      E bool(true)
      E bytes('a') == 'a'.toUtf8()
      E int() == 0
      E int(1, 2) == 1
      """)
  }

  @Test func mathematics() {
    RuleTable(
      """
      T math.abs(-1) == 1
      T math.abs(-1) is int
      T math.abs(-1.5) == 1.5
      E math.abs(-9223372036854775808) == 0
      T math.ceil(1.2) == 2
      F math.ceil(1.2) is int
      T math.ceil(-1.2) == -1
      T math.floor(1.8) == 1
      T math.floor(-1.2) == -2
      T math.floor(1) is float
      T math.round(1.5) == 2
      T math.round(-1.5) == -1
      T math.round(2.4) == 2
      T math.round(1.5) is int
      T math.round(3) == 3
      E math.round(1e300) == 0
      T math.sqrt(4) == 2
      T math.sqrt(2.25) == 1.5
      T math.pow(2, 10) == 1024
      T math.pow(2, 10) is float
      T math.pow(2.0, -1) == 0.5
      T math.isNaN(math.sqrt(-1))
      F math.isNaN(1.0)
      E math.isNaN(1)
      E math.isInfinite(1.0)
      E math.isInfinite(1.0 / 0)
      E math.abs('1') == 1
      E math.sqrt(null) == 0
      E math.nosuch(1) == 1
      E math.abs() == 1
      E math == 1
      E math.pi == 3
      """)
  }

  @Test func hashes() {
    RuleTable(
      """
      T hashing.md5('abc').toHexString() == '900150983CD24FB0D6963F7D28E17F72'
      T hashing.md5('').toHexString() == 'D41D8CD98F00B204E9800998ECF8427E'
      T hashing.sha256('abc').toHexString().lower()[0:8] == 'ba7816bf'
      T hashing.sha256('').toBase64() == '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU='
      T hashing.crc32('abc').toHexString() == 'C2412435'
      T hashing.crc32c('abc').toHexString() == 'B73F4B36'
      T hashing.crc32('').toHexString() == '00000000'
      T hashing.md5('abc') == hashing.md5('abc'.toUtf8())
      T hashing.sha256('abc') is bytes
      T hashing.sha256('abc').size() == 32
      T hashing.md5('abc').size() == 16
      E hashing.md5(1) is bytes
      E hashing.sha1('abc') is bytes
      """)
  }

  @Test func documents() {
    RuleTable(
      """
      T exists(/databases/$(database)/documents/known/one)
      F exists(/databases/$(database)/documents/known/two)
      T existsAfter(/databases/$(database)/documents/known/one)
      T get(/databases/$(database)/documents/known/one).data.n == 1
      T get(/databases/$(database)/documents/known/one).id == 'one'
      T get(/databases/$(database)/documents/known/one).__name__[4] == 'one'
      T get(/databases/$(database)/documents/known/one).keys() == ['__name__', 'data', 'id']
      T get(/databases/$(database)/documents/known/two) == null
      E get(/databases/$(database)/documents/known/two).data.n == 1
      T getAfter(/databases/$(database)/documents/known/one).data.s == 'text'
      T get(path('/databases/' + database + '/documents/known/one')).data.n == 1
      E get(/databases/other/documents/known/one) == null
      E exists(/databases/$(database)/documents/known)
      E exists(/known/one)
      E exists('known/one')
      E exists(/databases/$(database)/documents/known/$('one/x/y'))
      E get() == null
      E exists(/a, /b)
      T debug(exists(/databases/$(database)/documents/known/one))
      E nosuch(1)
      """)
  }

  @Test func requests() {
    RuleTable(
      """
      T request.auth == null
      T request.method == 'get'
      T request.keys() == ['auth', 'method', 'path', 'time']
      F 'resource' in request
      F 'query' in request
      E request.resource == null
      E request.query == null
      E request.nosuch == null
      E request.auth.uid == 'a'
      T resource == null
      E resource.data.n == 1
      T id == 'x'
      T database == '(default)'
      T request['method'] == 'get'
      T request.size() == 4
      """)
  }

  @Test func resources() {
    let fields: DocumentMap = [
      "n": 1, "x": 1.5, "s": "text", "b": true, "z": .null, "list": [1, "a"],
      "map": ["k": ["deep": 2]], "bytes": .bytes([1, 2]),
      "time": .timestamp(DocumentTimestamp(uncheckedMicroseconds: 1_000_000)),
      "place": .geoPoint(DocumentGeoPoint(uncheckedLatitude: 1, longitude: 2)),
      "other": .reference(
        DocumentName(DocumentKey(unchecked: "a/b"), in: DocumentDatabase(unchecked: "P"))),
      "vector": .vector([1, 2]),
    ]
    let auth: JSONValue = .object([
      .init("uid", .string("ann")),
      .init(
        "token",
        .object([.init("admin", .bool(true)), .init("level", .integer(3))])),
    ])
    RuleTable(
      """
      T resource.data.n == 1
      T resource.data.n is int
      T resource.data.x is float
      T resource.data.s == 'text'
      T resource.data.b
      T resource.data.z == null
      T resource.data.list == [1, 'a']
      T resource.data.map.k.deep == 2
      T resource.data.map == {'k': {'deep': 2}}
      T resource.data.bytes is bytes
      T resource.data.bytes.toHexString() == '0102'
      T resource.data.time == timestamp.value(1000)
      T resource.data.place == latlng.value(1, 2)
      T resource.data.other == /databases/$(database)/documents/a/b
      T resource.data.vector is map
      T resource.data.size() == 12
      T resource.data.keys().hasAll(['n', 's'])
      T 'n' in resource.data
      F 'q' in resource.data
      T resource.data.get('q', 7) == 7
      T resource.data.get(['map', 'k', 'deep'], 7) == 2
      T resource.id == 'x'
      T resource.__name__ == request.path
      T resource.data.diff({'n': 1}).removedKeys().size() == 0
      T resource.data == resource.data
      E resource.data.q == 1
      E resource.q == 1
      T request.auth.uid == 'ann'
      T request.auth.token.admin
      T request.auth.token.level is int
      E request.auth.token.email == 'a'
      T request.auth.token.get('email', '') == ''
      T request.auth != null && request.auth.uid == 'ann'
      """, resource: fields, auth: auth)
  }
}

@Suite("Functions of real numbers in rules for documents")
struct RealFunctionsTests {
  @Test("powers and angles agree with the system's library")
  func agreement() {
    func isNear(_ found: Double, _ expected: Double) -> Bool {
      if expected.isNaN { return found.isNaN }
      if expected.isInfinite || expected == 0 { return found == expected }
      return ((found - expected) / expected).magnitude < 1e-12
    }
    let bases = [0, 0.001, 0.5, 1, 1.5, 2, 3, 10, 12345.678, 1e100, .infinity, -1, -2, -0.5, -3]
    let exponents = [0, 0.25, 0.5, 1, 2, 3, 7.5, 31, 100, -1, -2.5, -0.5, 1e10, -.infinity, .nan]
    for base in bases {
      for exponent in exponents {
        let (found, expected) = (RealFunctions.power(base, exponent), pow(base, exponent))
        #expect(isNear(found, expected), "\(base) to the power of \(exponent)")
      }
    }
    for step in -100...100 {
      let angle = Double(step) / 100 * .pi
      #expect((RealFunctions.sine(angle) - sin(angle)).magnitude < 1e-14)
      #expect((RealFunctions.cosine(angle / 2) - cos(angle / 2)).magnitude < 1e-14)
      let sine = Double(step.magnitude) / 100
      #expect((RealFunctions.arcSine(sine) - asin(sine)).magnitude < 1e-14)
    }
  }
}
