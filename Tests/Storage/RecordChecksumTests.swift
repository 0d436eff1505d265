import TernStorage
import Testing

private func checksum(_ key: [UInt8], _ value: [UInt8]) -> UInt32 {
  unsafe key.withUnsafeBytes { key in
    unsafe value.withUnsafeBytes { value in unsafe RecordChecksum.of(key: key, value: value) }
  }
}

@Test("the worked example of Docs/Formats/storage-record.md")
func example() {
  #expect(checksum(Array("rooms/42".utf8), Array("hello".utf8)) == 233_062_060)
  #expect(checksum([], []) == 1_212_248_975)
}

@Test(
  "every flipped bit of a key or a value shows", arguments: [0, 1, 3, 4, 7, 8, 15, 16, 17, 100])
func flippedBits(count: Int) {
  let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
  let key: [UInt8] = [1, 2, 3]
  let right = checksum(key, bytes)
  for bit in 0..<(count * 8) {
    var damaged = bytes
    damaged[bit / 8] ^= 1 << (bit % 8)
    #expect(checksum(key, damaged) != right)
    #expect(checksum(damaged, key) != checksum(bytes, key))
  }
}

@Test("a byte that moves between key and value shows")
func boundary() {
  #expect(checksum([1, 2], [3]) != checksum([1], [2, 3]))
  #expect(checksum([], [0]) != checksum([0], []))
  #expect(checksum([], [0]) != checksum([], [0, 0]))
}
