import Testing

@Suite struct AvailabilityTests {
  @Test("R43 an app that imports Firebase's names links no system library but SQLite")
  func closure() throws {
    let package = try PackageManifest.load()
    for platform in ["ios", "macos", "tvos", "visionos", "watchos"] {
      let needed = package.closure(of: "TernFirebaseCompat", on: platform)
      #expect(package.systemLibraries(in: needed) == ["CSQLite"], "\(platform)")
      #expect(!needed.contains("TernServer") && !needed.contains("TernGateway"), "\(platform)")
      for target in needed.sorted() {
        #expect(try package.withheldFrom(platform, target) == [], "\(target)")
      }
    }
  }

  @Test("the closure follows dependencies, and conditions that hold")
  func control() throws {
    let package = try PackageManifest(
      json: """
        {"platforms": [{"platformName": "ios"}], "traits": [
          {"name": "default", "enabledTraits": ["Net"]}, {"name": "Net", "enabledTraits": []},
          {"name": "Extra", "enabledTraits": []}],
         "targets": [
          {"name": "A", "type": "regular", "dependencies": [{"byName": ["B", null]},
            {"byName": ["C", {"platformNames": ["linux"]}]},
            {"target": ["D", {"platformNames": [], "traits": ["Extra"]}]},
            {"byName": ["E", {"platformNames": ["ios"], "traits": ["Net"]}]},
            {"product": ["P", "other", null, null]}]},
          {"name": "B", "type": "regular", "dependencies": [{"byName": ["F", null]}]},
          {"name": "C", "type": "system", "dependencies": []},
          {"name": "D", "type": "regular", "dependencies": []},
          {"name": "E", "type": "regular", "dependencies": []},
          {"name": "F", "type": "system", "dependencies": []}]}
        """, folder: "/nowhere")
    #expect(package.closure(of: "A", on: "ios") == ["A", "B", "E", "F"])
    #expect(package.closure(of: "A", on: "linux") == ["A", "B", "C", "F"])
    #expect(package.systemLibraries(in: ["A", "B", "F"]) == ["F"])
  }
}
