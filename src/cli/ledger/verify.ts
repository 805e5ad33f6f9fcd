import { readFrom } from '../../config/environment.ts'
import { readLedgerKey } from '../../config/environment-settings.ts'
import { type LogTrust, sealsCheck } from '../../jobs/books/check-seals.ts'
import { checkValues } from '../../jobs/books/check-values.ts'
import {
  checkControlTotals,
  checkFrozenBalances,
  checkSnapshots,
  type LedgerOutcome,
} from '../../jobs/books/ledger-checks.ts'
import { decisionsCheck } from '../../jobs/people/check-decisions.ts'
import {
  makeSigningKey,
  type NoteKey,
  readCheckpoints,
  readVerifierKey,
  type SignedCheckpoint,
  verifierKeyText,
} from '../../ledger/checkpoint.ts'
import { attachedEnvironment, type Context, longQueryMs, withDatabase } from '../context.ts'
import { readTextFile, writeSecret } from '../files.ts'
import { wrongUse } from '../options.ts'
import { pinnedKey } from '../people/signing.ts'
import { type News, print, printable, reportProgress } from '../print.ts'

type VerifyLedgerOptions = { against?: string; key?: string; limit: number }

type LedgerCheckResult = LedgerOutcome & { check: string }

/** Bad news if a check finds anything. */
export async function verifyLedgerCommand(context: Context, options: VerifyLedgerOptions): Promise<News> {
  const keys = keysOf(context, options.key)
  const pinned = pinnedKey(context)
  const trust: LogTrust = { published: publishedIn(options.against), keys }
  const report = reportProgress(context)
  const reported = await withDatabase(
    context,
    async (db) => {
      const all: LedgerCheckResult[] = []
      for (const { name, run } of [
        sealsCheck(trust),
        decisionsCheck(pinned ?? administratorIn(trust), administratorIn(trust)),
        checkFrozenBalances,
        checkControlTotals,
        checkSnapshots,
        checkValues,
      ])
        all.push({ check: name, ...(await run(db, report)) })
      return all
    },
    longQueryMs,
  )
  const isFine = reported.every(({ findings }) => findings.length === 0)
  const document = {
    fine: isFine,
    published: trust.published.size,
    signed: keys.length > 0,
    checks: reported,
  }
  const unsigned = 'signatures: not checked; give --key, or set LEDGER_KEY\n'
  print(
    context,
    document,
    printable(`${keys.length === 0 ? unsigned : ''}${textOf(reported, options.limit)}\n`),
  )
  return isFine ? 'good' : 'bad'
}

function keysOf(context: Context, text: string | undefined): NoteKey[] {
  const own = readFrom(attachedEnvironment(context), readLedgerKey)?.signer
  if (text === undefined) return own === undefined ? [] : [own]
  return text.split(',').map((one) => {
    const key = readVerifierKey(one)
    if (key === null)
      throw wrongUse('--key is no key of a log', 'give what "bin/depositd ledger key show" prints')
    return key
  })
}

function textOf(reported: readonly LedgerCheckResult[], findingsMax: number): string {
  const wrong = reported.reduce((sum, { findings }) => sum + findings.length, 0)
  const verdict =
    wrong === 0
      ? `the books are correct: ${reported.length} checks passed`
      : `THE BOOKS ARE NOT CORRECT: ${wrong} findings`
  return [...reported.flatMap((one) => linesOf(one, findingsMax)), verdict].join('\n')
}

function linesOf({ check, counted, findings }: LedgerCheckResult, findingsMax: number): string[] {
  const counts = Object.entries(counted).map(([name, count]) => `${count} ${name}`)
  const more = findings.length - findingsMax
  return [
    `${check}: ${counts.join(', ')}`,
    ...findings.slice(0, findingsMax).map((finding) => `  ${finding}`),
    ...(more > 0 ? [`  and ${more} more; a higher --limit shows them`] : []),
  ]
}

function publishedIn(path: string | undefined): Map<number, SignedCheckpoint> {
  if (path === undefined) return new Map()
  const read = readCheckpoints(readTextFile('--against', path))
  if (read === null || read.length === 0)
    throw wrongUse(
      `${path} holds no checkpoints`,
      'give a file written by "bin/depositd ledger checkpoints export"',
    )
  return new Map(read.map((one) => [one.size, one]))
}

/** Of the newest published checkpoint that names one. */
function administratorIn({ published }: LogTrust): string | null {
  const named = [...published.values()].filter(({ administrator }) => administrator != null)
  return named.toSorted((one, other) => other.size - one.size)[0]?.administrator ?? null
}

type CreateKeyOptions = { out: string; witness?: true }

export function createKeyCommand(context: Context, name: string, { out, witness }: CreateKeyOptions): void {
  if (!/^[^\s+]{1,100}$/.test(name))
    throw wrongUse(`${name} is no name of a log`, 'give a name like example.com/depositd')
  const { text, signer } = makeSigningKey(name, witness ? 'witness' : 'log')
  writeSecret(out, `${text}\n`)
  const key = verifierKeyText(signer)
  print(
    context,
    { file: out, key },
    `${out}: keep it secret${witness ? '' : ', and set LEDGER_KEY_FILE to it'}\n${key}\n`,
  )
}

export function showKeyCommand(context: Context): void {
  const own = readFrom(attachedEnvironment(context), readLedgerKey)
  if (own === null) throw wrongUse('no LEDGER_KEY is set', 'make one with "bin/depositd ledger key create"')
  const key = verifierKeyText(own.signer)
  print(context, { key }, `${key}\n`)
}
