import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type CommandName, type Commands, commandWords, shellCommand } from './commands.ts'
import type { Subject, Trial } from './subject.ts'

/** The command line cannot be understood. */
export class WrongUse extends Error {}

export const usage = `npm run conformance -- --url <base_url> --key-file <file> [options]

Tests a deposit service against every fact that its interface states.

  --url <base_url>       where its paths begin
  --key-file <file>      holds an API key with the write scope
  --read-key-file <file> holds an API key with the read scope
  --ca <file>            PEM of the authority that signed its certificate
  --amount <decimal>     how much USDC a test payment is (default 5)
  --other <network:asset:amount>
                         a payment of another asset, which is converted; may be given again
  --within <seconds>     how long "in real time" may take (default 120)
  --json                 print one JSON document

What the interface does not show is lent by commands. Each gets its words as arguments, and CONFORMANCE_URL and
CONFORMANCE_KEY in its environment. What needs a command that is not given is reported as not checked.

  --pay <command>        pays: ${commandWords.pay}
  --balance <command>    writes what an address holds, in whole units: ${commandWords.balance}
  --hold <command>       makes a policy that holds the deposits of a channel: ${commandWords.hold}
  --withdraw <command>   withdraws USDC from a StableWallet: ${commandWords.withdraw}
  --webhook <command>    has the service send its webhooks: ${commandWords.webhook}
  --lend <command>       does each of these that is not given, and gets its name as first word:
                         --lend 'node test/conformance/lend.ts' for "bin/depositd service" in this folder

Exit status: 0 nothing is broken, 1 something is, 2 wrong use.
`

const text = { type: 'string' } as const
const options = {
  url: text,
  'key-file': text,
  'read-key-file': text,
  ca: text,
  amount: { ...text, default: '5' },
  other: { ...text, multiple: true },
  within: { ...text, default: '120' },
  pay: text,
  balance: text,
  hold: text,
  withdraw: text,
  webhook: text,
  lend: text,
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

export type Options = { subject: Subject; json: boolean }

/**
 * Reads the command line; null where it asks for help.
 * @throws WrongUse
 */
export function readOptions(words: readonly string[]): Options | null {
  const values = parse(words)
  if (values.help) return null
  const { url, json } = values
  const key = textOf(values, 'key-file')
  if (url === undefined || key === null) throw new WrongUse('--url and --key-file are needed')
  if (!/^https?:\/\/./.test(url))
    throw new WrongUse(`--url must be an address that begins with http:// or https://`)
  return {
    json,
    subject: {
      url: url.replace(/\/+$/, ''),
      key,
      readKey: textOf(values, 'read-key-file'),
      ca: textOf(values, 'ca'),
      commands: commandsOf(values, { CONFORMANCE_URL: url.replace(/\/+$/, ''), CONFORMANCE_KEY: key }),
      amount: decimal('amount', values.amount),
      others: (values.other ?? []).map(trialOf),
      withinMs: Number(decimal('within', values.within)) * 1000,
    },
  }
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options, strict: true }).values
  } catch (error) {
    throw new WrongUse(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

function commandsOf(
  { lend, ...lines }: Partial<Record<CommandName | 'lend', string>>,
  environment: Readonly<Record<string, string>>,
): Commands {
  const names = Object.keys(commandWords) as CommandName[]
  return Object.fromEntries(
    names.flatMap((name) => {
      const line = lines[name] ?? (lend === undefined ? undefined : `${lend} ${name}`)
      return line === undefined ? [] : [[name, shellCommand(line, environment)]]
    }),
  )
}

function trialOf(given: string): Trial {
  const [network, asset, amount, ...more] = given.split(':')
  if (network === undefined || asset === undefined || amount === undefined || more.length > 0)
    throw new WrongUse(`--other ${given} is not of the form network:asset:amount`)
  return { network, asset, amount: decimal('other', amount) }
}

function decimal(name: string, given: string): string {
  if (/^\d{1,12}(\.\d{1,18})?$/.test(given) && /[1-9]/.test(given)) return given
  throw new WrongUse(`--${name} is no decimal above 0: ${given}`)
}

/** Null where no file is named. */
function textOf<Name extends string>(values: Partial<Record<Name, string>>, name: Name): string | null {
  const path = values[name]
  if (path === undefined) return null
  const held = readFile(name, path).trim()
  if (held === '') throw new WrongUse(`--${name} names a file with nothing in it: ${path}`)
  return held
}

function readFile(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new WrongUse(`--${name} cannot be read: ${path}`, { cause: error })
  }
}
