import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { Fault, messageOf } from '../../core/errors.ts'
import { sealBooks } from '../../jobs/books/seal-books.ts'
import { anchorLine } from '../../ledger/seals/anchors.ts'
import type { Seal } from '../../ledger/seals/seal.ts'
import { sealColumns } from '../../presentation/ledger.ts'
import type { Database } from '../../store/database.ts'
import { newestSeals, sealsAfter } from '../../store/ledger/seals.ts'
import type { Tables } from '../../store/tables.ts'
import { type Context, withDatabase } from '../context.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { printJson, reportProgress } from '../print.ts'

/** Seals all journals that are not sealed yet. */
export async function sealCommand(context: Context, { json }: { json?: boolean }): Promise<void> {
  const report = reportProgress(context)
  const seals = await withDatabase(context, (db) =>
    sealBooks(db, ({ last }) => report(`sealed up to journal ${last}`)),
  )
  const journals = seals.reduce((sum, seal) => sum + Number(seal.journals), 0)
  const newest = seals.at(-1)
  if (json === true) printJson(context, { journals, seals })
  else if (newest === undefined) context.stdout.write('nothing was booked since the last seal\n')
  else context.stdout.write(`${journals} journals are sealed; seal ${newest.number} is ${newest.hash}\n`)
}

/** Lists the newest seals and the journals that each covers. */
export async function listSealsCommand(context: Context, options: ListOptions): Promise<void> {
  const page = await withDatabase(context, (db) =>
    readPage(options, paging, ({ limit, after }) => newestSeals(db, { limit, before: idIn(after) ?? null })),
  )
  printList(context, page, { columns: sealColumns, json: options.json, empty: 'nothing is sealed yet' })
}

const paging: ListKeyset<Seal> = { list: 'seals', keyOf: ({ number }) => [number] }

/** Writes one line per seal, from the first to the last. */
export async function exportSealsCommand(context: Context, { out }: { out?: string }): Promise<void> {
  if (out === undefined) {
    await withDatabase(context, (db) => writeSeals(db, (text) => writeOut(context, text)))
    return
  }
  const file = await open(out, 'w').catch(explainUnwritable)
  try {
    const count = await withDatabase(context, (db) =>
      writeSeals(db, (text) => file.appendFile(text).catch(explainUnwritable)),
    )
    context.stdout.write(`${out}: ${count} seals\n`)
  } finally {
    await file.close()
  }
}

async function writeOut({ stdout }: Context, text: string): Promise<void> {
  if (!stdout.write(text)) await once(stdout, 'drain')
}

function explainUnwritable(error: unknown): never {
  const problem = `--out cannot be written: ${messageOf(error)}`
  throw new Fault('usage_bad', { problem, fix: 'give the path of a file, in a folder that there is' })
}

const sealsOfPage = 1000

async function writeSeals(db: Database<Tables>, write: (text: string) => Promise<void>): Promise<number> {
  let [after, count] = ['0', 0]
  for (;;) {
    const seals = await sealsAfter(db, after, sealsOfPage)
    const last = seals.at(-1)
    if (last === undefined) return count
    await write(seals.map((seal) => `${anchorLine(seal)}\n`).join(''))
    after = last.number
    count += seals.length
  }
}
