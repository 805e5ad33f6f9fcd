import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Fault, messageOf } from '../../core/errors.ts'
import { type Anchors, sealsCheck } from '../../jobs/books/check-seals.ts'
import { type LedgerOutcome, ledgerChecks } from '../../jobs/books/ledger-checks.ts'
import { sealBooks } from '../../jobs/books/seal-books.ts'
import { makeProof, type Proof } from '../../ledger/merkle-tree.ts'
import { anchorLine, readAnchor, type Seal } from '../../ledger/seal.ts'
import { sealColumns } from '../../presentation/ledger.ts'
import type { Database } from '../../store/database.ts'
import {
  journalNamed,
  newestSeals,
  readSealedJournals,
  type StoredJournal,
  sealOfJournal,
  sealsAfter,
} from '../../store/ledger/seals.ts'
import type { Tables } from '../../store/tables.ts'
import { type Context, longQueryMs, withDatabase } from '../context.ts'
import { writeOut } from '../files.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { notFound, wrongUse } from '../options.ts'
import { type News, print, printable, reportProgress } from '../print.ts'

export async function sealCommand(context: Context): Promise<void> {
  const report = reportProgress(context)
  const seals = await withDatabase(context, (db) =>
    sealBooks(db, ({ last }) => report(`sealed up to journal ${last}`)),
  )
  const journals = seals.reduce((sum, seal) => sum + Number(seal.journals), 0)
  const newest = seals.at(-1)
  const text =
    newest === undefined
      ? 'all journals are sealed already\n'
      : `${journals} journals sealed; seal ${newest.number} is ${newest.hash}\n`
  print(context, { journals, seals }, text)
}

export async function listSealsCommand(context: Context, options: ListOptions): Promise<void> {
  const page = await withDatabase(context, (db) =>
    readPage(options, paging, ({ limit, after }) => newestSeals(db, { limit, before: idIn(after) ?? null })),
  )
  printList(context, page, { columns: sealColumns, empty: 'no seals yet' })
}

const paging: ListKeyset<Seal> = { list: 'seals', keyOf: ({ number }) => [number] }

const sealsOfPage = 1000

/** One line per seal, in order. */
export async function exportSealsCommand(context: Context): Promise<void> {
  await withDatabase(context, async (db) => {
    for (let after = '0'; ; ) {
      const seals = await sealsAfter(db, after, sealsOfPage)
      const last = seals.at(-1)
      if (last === undefined) return
      const text = seals.map((seal) => `${anchorLine(seal)}\n`).join('')
      if (!context.stdout.write(text)) await once(context.stdout, 'drain')
      after = last.number
    }
  })
}

type VerifyLedgerOptions = { against?: string; limit: number }

type LedgerCheckResult = LedgerOutcome & { check: string }

/** Bad news if a check finds anything. */
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
    longQueryMs,
  )
  const isFine = reported.every(({ findings }) => findings.length === 0)
  const document = { fine: isFine, anchors: anchors.size, checks: reported }
  print(context, document, printable(`${textOf(reported, options.limit)}\n`))
  return isFine ? 'good' : 'bad'
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
  return wrongUse(problem, 'give a file written by "bin/depositd ledger seals export"')
}

/** Bad news if the journal is not, or no longer, part of its seal. */
export async function proveJournalCommand(
  context: Context,
  name: string,
  { out }: { out: string },
): Promise<News> {
  const { seal, proof } = await withDatabase(context, (db) => prove(db, name))
  if (proof === null) {
    const text = `NOT PROVED: seal ${seal} is broken; "bin/depositd ledger verify" shows the difference\n`
    print(context, { proved: false, file: null, seal: { number: seal } }, text)
    return 'bad'
  }
  writeOut(out, `${JSON.stringify(proof, null, 2)}\n`)
  const text = `${out}: proof that seal ${seal} includes the journal, ${proof.seal.hash}\n`
  print(context, { proved: true, file: out, seal: proof.seal }, text)
  return 'good'
}

async function prove(db: Database<Tables>, name: string): Promise<{ seal: string; proof: Proof | null }> {
  const id = await journalNamed(db, name)
  if (id === null)
    throw notFound(`journal ${name}`, 'give its number or its posting key, as in accounting.journal')
  const seal = await sealOfJournal(db, id)
  if (seal === null) {
    const fix = 'run "bin/depositd ledger seal", or wait for the next seal'
    throw wrongUse(`journal ${name} is not sealed yet`, fix)
  }
  const journals: StoredJournal[] = []
  const after = seal.number === '1' ? null : seal.after
  for await (const page of readSealedJournals(db, { after, last: seal.last })) journals.push(...page.journals)
  return { seal: seal.number, proof: makeProof(seal, journals, id.toString()) }
}
