// `attacca-player`: the process in which sound lives. Arguments are bytes: a file name need not be UTF-8.
import Attacca
import Glibc
import POSIXKit

Memory.limitArenas()

// Not `CommandLine.arguments`, which repairs what is not UTF-8.
let arguments = (0..<Int(CommandLine.argc)).dropFirst().compactMap { CommandLine.unsafeArgv[$0] }
  .map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }

if arguments.first == Array("probe".utf8) { exit(await ProbeCommand.run(Array(arguments.dropFirst()))) }

// Folders are read before signals are caught: a long search can be broken off as ever.
let (plan, status) = PlayCommand.plan(arguments)
guard let plan else { exit(status) }
exit(await PlayCommand.run(plan, on: Player(configuration: PlayerConfiguration(plan.options))))
