import TernKit

let server = CommandLine.arguments.dropFirst().first ?? "127.0.0.1"
let tern = try await TernDatabase.open("my-data", server: server)
let room = tern.tree["rooms/42"]

let listening = Task {
  for try await snapshot in room.values() { print(snapshot) }
}
let write = try await room["title"].set("Hi")  // safe on this device, and heard at once
try await write.acknowledged()  // the server has it; without one, this waits until there is
print("acknowledged")
try await listening.value
