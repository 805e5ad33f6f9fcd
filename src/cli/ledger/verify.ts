import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Fault, messageOf } from '../../core/errors.ts'
import { type Anchors, sealsCheck } from '../../jobs/books/check-seals.ts'
import { type LedgerOutcome, ledgerChecks } from '../../jobs/books/ledger-checks.ts'
import { readAnchor } from '../../ledger/seals/anchors.ts'
import type { Seal } from '../../ledger/seals/seal.ts'
import { type Context, withDatabase } from '../context.ts'
import { type News, printable, printJson, reportProgress } from '../print.ts'

type VerifyLedgerOptions = { against?: string; limit: number; json?: boolean }

type LedgerCheckResult = LedgerOutcome & { check: string }

/** A check may add up every booking before it returns a row. */
const queryTimeoutMs = 3_600_000

/** Runs every check of the books, one after another. Bad news if a check finds anything. */
export async function verifyLedgerCommand(context: Context, options: VerifyLedgerOptions): Promise<News> {
  const anchors = options.against === undefined ? new Map<string, Seal>() : await readAnchors(options.against)
  const report = reportProgress(context)
  const checks = [sealsCheck(anchors), ...ledgerChecks]
  const reported = await withDatabase(
    context,
    async (db) => {
      const all: LedgerCheckResult[] = []
      for (const { name, run } of checks) all.push({ check: name, ...(await run(db, report)) })
      return all
    },
    queryTimeoutMs,
  )
  const isFine = reported.every(({ findings }) => findings.length === 0)
  if (options.json === true) printJson(context, { fine: isFine, anchors: anchors.size, checks: reported })
  else context.stdout.write(printable(`${textOf(reported, options.limit)}\n`))
  return isFine ? 'good' : 'bad'
}

function textOf(reported: readonly LedgerCheckResult[], findingsMax: number): string {
  const wrong = reported.reduce((sum, { findings }) => sum + findings.length, 0)
  const verdict =
    wrong === 0
      ? `nothing is wrong with the books: ${reported.length} checks`
      : `SOMETHING IS WRONG WITH THE BOOKS: ${wrong} findings`
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

/** Reads the output of "ledger seals export". */
async function readAnchors(path: string): Promise<Anchors> {
  const anchors = new Map<string, Seal>()
  try {
    let place = 0
    for await (const line of createInterface({ input: createReadStream(path) })) {
      place++
      const anchor = readAnchor(line)
      if ('fault' in anchor) throw badAnchors(`line ${place} of ${path}: ${anchor.fault}`)
      anchors.set(anchor.number, anchor)
    }
  } catch (error) {
    throw error instanceof Fault ? error : badAnchors(messageOf(error))
  }
  if (anchors.size === 0) throw badAnchors(`${path} is empty`)
  return anchors
}

function badAnchors(problem: string): Fault {
  return new Fault('usage_bad', {
    problem,
    fix: 'give the path of a file that "bin/depositd ledger seals export" wrote',
  })
}
