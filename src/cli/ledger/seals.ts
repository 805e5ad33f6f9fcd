import { once } from 'node:events'
import { readFrom } from '../../config/environment.ts'
import { readLedgerKey } from '../../config/environment-settings.ts'
import { sealBooks } from '../../jobs/books/seal-books.ts'
import { writeConsistency } from '../../ledger/checkpoint.ts'
import { consistencyProof } from '../../ledger/merkle-tree.ts'
import { type SealedTableName, sealedTableNames } from '../../ledger/sealed-tables.ts'
import { checkpointColumns } from '../../presentation/ledger.ts'
import type { Database } from '../../store/database.ts'
import { proveRow } from '../../store/ledger/row-proof.ts'
import {
  afterSize,
  checkpointsAfter,
  hashReader,
  journalNamed,
  listCheckpoints,
  newestCheckpoint,
  type StoredCheckpoint,
} from '../../store/ledger/seals.ts'
import type { Tables } from '../../store/tables.ts'
import { attachedEnvironment, type Context, withDatabase } from '../context.ts'
import { writeOut } from '../files.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { notFound, wrongUse } from '../options.ts'
import { pinnedKey } from '../people/signing.ts'
import { type News, print, reportProgress } from '../print.ts'

export async function sealCommand(context: Context): Promise<News> {
  const signer = readFrom(attachedEnvironment(context), readLedgerKey)?.signer ?? null
  const report = reportProgress(context)
  const { rows, busy, checkpoint } = await withDatabase(context, (db) =>
    sealBooks(db, signer, { pinned: pinnedKey(context), report: (count) => report(`${count} rows sealed`) }),
  )
  const made = checkpoint === null ? null : { ...checkpoint, root: checkpoint.root.toString('hex') }
  const unsigned = 'not signed: no LEDGER_KEY is set; make one with "bin/depositd ledger key create"'
  const lines = [
    rows === 0 ? 'all rows are sealed already' : `${rows} rows sealed`,
    made !== null && `checkpoint ${made.size}: ${made.root}`,
    signer === null && unsigned,
    ...busy.map(
      (table) => `${table}: another process is writing to it; its new rows are not sealed yet: try again`,
    ),
  ].filter((line) => line !== false)
  print(context, { rows, busy, checkpoint: made }, `${lines.join('\n')}\n`)
  return busy.length === 0 ? 'good' : 'bad'
}

export async function listCheckpointsCommand(context: Context, options: ListOptions): Promise<void> {
  const page = await withDatabase(context, (db) =>
    readPage(options, paging, ({ limit, after }) =>
      listCheckpoints(db, { limit, before: idIn(after) ?? null }),
    ),
  )
  printList(context, page, { columns: checkpointColumns, empty: 'no checkpoints yet' })
}

const paging: ListKeyset<{ size: number }> = { list: 'checkpoints', keyOf: ({ size }) => [`${size}`] }

const checkpointsOfPage = 1000

/** One after the other, in order. */
export async function exportCheckpointsCommand(context: Context): Promise<void> {
  await withDatabase(context, async (db) => {
    for (let after = afterSize(0); ; ) {
      const page = await checkpointsAfter(db, after, { limit: checkpointsOfPage })
      const last = page.at(-1)
      if (last === undefined) return
      if (!context.stdout.write(page.map(({ note }) => note).join(''))) await once(context.stdout, 'drain')
      after = last
    }
  })
}

/** Writes the proof that the log of today only added rows to that of an earlier checkpoint. */
export async function proveGrowthCommand(
  context: Context,
  size: string,
  { out }: { out: string },
): Promise<void> {
  const older = Number(size)
  if (!/^[1-9]\d{0,14}$/.test(size))
    throw wrongUse(`${size} is no size`, 'give the size of a checkpoint, as listed')
  const { newest, text } = await withDatabase(context, async (db) => {
    const checkpoint = await newestOrFault(db)
    if (older > checkpoint.size)
      throw wrongUse(`the log has ${checkpoint.size} rows, not ${size}`, 'give a smaller size')
    const proof = await consistencyProof(hashReader(db), older, checkpoint.size)
    return { newest: checkpoint, text: writeConsistency(older, proof, checkpoint.note) }
  })
  writeOut(out, text)
  const said = `${out}: proof that the log of ${newest.size} rows begins with that of ${older}\n`
  print(context, { file: out, older, newer: newest.size }, said)
}

async function newestOrFault(db: Database<Tables>): Promise<StoredCheckpoint> {
  const newest = await newestCheckpoint(db)
  if (newest === null) throw wrongUse('nothing is sealed yet', 'run "bin/depositd ledger seal"')
  return newest
}

/** Bad news if the row is not, or no longer, as it was sealed. */
export async function proveRowCommand(
  context: Context,
  name: string,
  { out }: { out: string },
): Promise<News> {
  const proved = await withDatabase(context, async (db) => {
    const { table, id } = await rowNamed(db, name)
    return proveRow(db, table, id)
  })
  if (proved.kind === 'uncovered')
    throw wrongUse(`${name} is not sealed yet`, 'run "bin/depositd ledger seal", or wait for the next seal')
  if (proved.kind === 'unknown') throw notFound(name, 'give the number of a sealed row')
  if (proved.kind === 'included') {
    const { proof, leaf, size } = proved
    writeOut(out, proof)
    writeOut(`${out}.leaf`, leaf)
    const text = `${out}: proof that the log of ${size} rows includes ${name}; its row is in ${out}.leaf\n`
    print(context, { proved: true, file: out, checkpoint: size }, text)
    return 'good'
  }
  const text = `NOT PROVED: ${name} differs from what was sealed; "bin/depositd ledger verify" shows the difference\n`
  print(context, { proved: false, file: null, checkpoint: null }, text)
  return 'bad'
}

/** `journal 4` by its number or posting key; any row of the log as `table/id`. */
async function rowNamed(db: Database<Tables>, name: string): Promise<{ table: SealedTableName; id: bigint }> {
  const [, table, id] = /^(\w+)\/(\d{1,18})$/.exec(name) ?? []
  const known = sealedTableNames.find((one) => one === table)
  if (known !== undefined && id !== undefined) return { table: known, id: BigInt(id) }
  const journal = await journalNamed(db, name)
  if (journal !== null) return { table: 'ledger_journal', id: journal }
  throw notFound(
    name,
    `give the number or the posting key of a journal, as in accounting.journal; or a row like inbox/12: tables are ${sealedTableNames.join(', ')}`,
  )
}
