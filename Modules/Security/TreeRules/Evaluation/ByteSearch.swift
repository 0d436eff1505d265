/// Finds one string inside others, byte by byte, never looking at a byte of the text twice.
///
/// The method is that of Knuth, Morris and Pratt: after a mismatch the longest border of what
/// matched says where to go on.
struct ByteSearch {
  private let needle: [UInt8]
  /// For each prefix of the needle, the length of its longest proper prefix that is also its
  /// suffix.
  private let borders: [Int]

  /// Prepares a search; time and memory are linear in the needle.
  init(_ needle: String) {
    self.needle = Array(needle.utf8)
    var borders = [Int](repeating: 0, count: self.needle.count)
    var length = 0
    for index in self.needle.indices.dropFirst() {
      while length > 0, self.needle[index] != self.needle[length] { length = borders[length - 1] }
      if self.needle[index] == self.needle[length] { length += 1 }
      borders[index] = length
    }
    self.borders = borders
  }

  /// The offsets of up to `most` occurrences that do not overlap; the empty string occurs at once.
  ///
  /// Time is linear in the text. A match of valid UTF-8 in valid UTF-8 always begins and ends
  /// between two scalars, so the offsets are safe to cut at.
  func occurrences(in text: String, most: Int) -> [Int] {
    if needle.isEmpty { return [0] }
    var places: [Int] = []
    var length = 0
    var offset = 0
    for byte in text.utf8 {
      offset += 1
      while length > 0, byte != needle[length] { length = borders[length - 1] }
      if byte == needle[length] { length += 1 }
      if length == needle.count {
        places.append(offset - length)
        if places.count >= most { break }
        length = 0
      }
    }
    return places
  }
}
