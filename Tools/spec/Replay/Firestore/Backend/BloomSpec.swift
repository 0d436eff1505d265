import Foundation
import TernCore

/// Filters of names as the service builds them, compared bit by bit.
enum BloomSpec: FirestoreSpecGroup {
  static let name = "bloom"

  static func replay(_ recordings: FirestoreRecordings) async throws -> SpecReport {
    SpecReport(
      try recordings.cases("bloom/cases.json").map { recorded in
        SpecReport.Entry(
          name: recorded["name"]?.text ?? "bloom", verdict: try verdict(on: recorded))
      })
  }

  private static func verdict(on recorded: JSONValue) throws -> SpecReport.Verdict {
    let count = Int(try recorded["documents"]?.number ?? 0)
    let prefix = recorded["namePrefix"]?.text ?? ""
    let names = (0..<count).map { "\(prefix)\($0)" }
    let filter = BloomFilter(of: names, errorRate: rate(recorded["falsePositiveRate"]))
    let bits = recorded["bits"] ?? .null
    let bitmap = Data(base64Encoded: bits["bitmap"]?.text ?? "").map(Array.init) ?? []
    var differences: [String] = []
    if filter.bitmap != bitmap { differences.append("the bits differ") }
    if filter.padding != Int(try bits["padding"]?.number ?? 0) {
      differences.append("the padding is \(filter.padding)")
    }
    if filter.hashCount != Int(try recorded["hashCount"]?.number ?? 0) {
      differences.append("the filter has \(filter.hashCount) hash functions")
    }
    for (index, flag) in (recorded["membership"]?.text ?? "").utf8.enumerated() {
      let name = "\(prefix)\(index)"
      if filter.mightContain(name) != (flag == UInt8(ascii: "1")) {
        differences.append("\(name) is \(flag == UInt8(ascii: "1") ? "absent" : "there")")
      }
    }
    return differences.isEmpty
      ? .passed : .failed(differences.prefix(9).map { "    \($0)\n" }.joined())
  }

  private static func rate(_ value: JSONValue?) -> Double {
    switch value {
    case .double(let rate): rate
    case .integer(let rate): Double(rate)
    case .string(let text): Double(text) ?? 1
    default: 1
    }
  }
}
