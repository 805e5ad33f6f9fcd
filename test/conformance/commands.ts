import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** What the interface does not show, and the service's operator lends us: the words each command is called with. */
export const commandWords = {
  pay: 'network asset amount address',
  balance: 'network asset address',
  hold: 'channel',
  withdraw: 'wallet network amount address',
  webhook: 'url',
} as const

export type CommandName = keyof typeof commandWords

/** Does what it is told by its words, and returns what it has to say. Rejects where it fails. */
export type Command = (...words: readonly string[]) => Promise<string>

export type Commands = Partial<Record<CommandName, Command>>

const run = promisify(execFile)
const timeoutMs = 120_000

/** A line of a shell as a command: its words follow behind it, and it knows of the service by its environment. */
export function shellCommand(line: string, environment: Readonly<Record<string, string>>): Command {
  const env = { ...process.env, ...environment }
  return async (...words) => {
    const { stdout } = await run('sh', ['-c', `${line} "$@"`, 'sh', ...words], { env, timeout: timeoutMs })
    return stdout.trim()
  }
}
