import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { type NoteSigner, writeCheckpoint } from '../../ledger/checkpoint.ts'
import { heightOfTile, rootOf, rootOfRange } from '../../ledger/merkle-tree.ts'
import { leafOf, marksOf, type SealedRow } from '../../ledger/sealed-row.ts'
import { type SealedTableName, sealedTableNames } from '../../ledger/sealed-tables.ts'
import { type Database, inTransaction } from '../../store/database.ts'
import { finishedUpTo, type RowRange, readSealedRows } from '../../store/ledger/sealed-rows.ts'
import {
  hashReader,
  insertCheckpoint,
  insertNode,
  insertSeal,
  lastSealed,
  leavesMax,
  newestCheckpoint,
  newestSeal,
  type SealMark,
  type StoredCheckpoint,
} from '../../store/ledger/seals.ts'
import type { Tables } from '../../store/tables.ts'
import { readRegister } from '../people/decide.ts'

export type SealingResult = {
  /** Rows that were sealed. */
  rows: number
  /** Tables with a transaction that did not end in time: their rows are sealed the next time. */
  busy: SealedTableName[]
  /** Null if nothing was ever sealed. */
  checkpoint: StoredCheckpoint | null
}

/** The origin of a log without a key. */
const unsignedOrigin = 'depositd/unsigned'

type SealingOptions = {
  /** The public key of the first administrator; null to trust the first decision. */
  pinned?: string | null
  report?: (rows: number) => void
  /** How long it may rest altogether, so that other work is not held up. */
  restMaxMs?: number
}

/** Adds all new rows to the log and makes a checkpoint. Of two concurrent runs, one stops. */
export async function sealBooks(
  db: Database<Tables>,
  signer: NoteSigner | null,
  { pinned = null, report = () => undefined, restMaxMs }: SealingOptions = {},
): Promise<SealingResult> {
  const rest = restOf(restMaxMs)
  const sealed: Omit<SealingResult, 'checkpoint'> = { rows: 0, busy: [] }
  for (const table of sealedTableNames) {
    const after = await lastSealed(db, table)
    const last = await finishedUpTo(db, table, waitForEnd)
    if (last === 'busy') sealed.busy.push(table)
    else if (last !== null && (after === null || last > after))
      for await (const rows of appendTable(db, { table, after, last }, rest)) report((sealed.rows += rows))
  }
  await makeCheckpoint(db, signer, pinned)
  return { ...sealed, checkpoint: await newestCheckpoint(db) }
}

/** Seal by seal, until another process seals the same rows. */
async function* appendTable(
  db: Database<Tables>,
  { table, after, last: cut }: RowRange,
  rest: Rest,
): AsyncGenerator<number> {
  let behind = after
  for await (const rows of inBatches(rowsOf(db, { table, after, last: cut }, rest), leavesMax)) {
    // Ids that were never written are sealed as absent.
    const last = (rows.length === leavesMax ? rows.at(-1)?.id : undefined) ?? cut
    if (!(await appendRows(db, rows, { table, after: behind, last }))) return
    behind = last
    yield rows.length
  }
}

const [waitMs, pauseMs] = [5000, 20]

async function waitForEnd(isOpen: () => Promise<boolean>): Promise<boolean> {
  for (let waited = 0; waited < waitMs; waited += pauseMs) {
    await sleep(pauseMs)
    if (!(await isOpen())) return true
  }
  return false
}

async function* rowsOf(db: Database<Tables>, range: RowRange, rest: Rest): AsyncGenerator<SealedRow> {
  let startedAt = performance.now()
  for await (const { rows } of readSealedRows(db, range)) {
    yield* rows
    await rest(performance.now() - startedAt)
    startedAt = performance.now()
  }
}

/** After work of that many milliseconds. */
type Rest = (workedMs: number) => Promise<void>

/** Sealing then takes a quarter of a core. */
const restTimes = 3

function restOf(restMaxMs = 0): Rest {
  let left = restMaxMs
  return async (workedMs) => {
    const ms = Math.min(left, restTimes * workedMs)
    left -= ms
    if (ms > 0) await sleep(ms)
  }
}

export async function* inBatches<Item>(items: AsyncIterable<Item>, size: number): AsyncGenerator<Item[]> {
  let batch: Item[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Rows that are hashed before other work has its turn: some milliseconds. */
const hashedAtOnce = 64

async function hashesOf(rows: readonly SealedRow[]): Promise<{ hashes: Buffer; marks: Buffer }> {
  const [hashes, marks]: [Buffer[], Buffer[]] = [[], []]
  for (const row of rows) {
    if (hashes.length % hashedAtOnce === 0) await setImmediate()
    hashes.push(leafOf(row))
    marks.push(marksOf(row))
  }
  return { hashes: Buffer.concat(hashes), marks: Buffer.concat(marks) }
}

/** @returns false if another process sealed at the same time */
async function appendRows(
  db: Database<Tables>,
  rows: readonly SealedRow[],
  range: RowRange,
): Promise<boolean> {
  const { hashes, marks } = await hashesOf(rows)
  return inTransaction(db, async (tx) => {
    const before = (await newestSeal(tx)) ?? { number: 0n, firstLeaf: 0, leaves: 0 }
    const place = {
      number: before.number + 1n,
      firstLeaf: before.firstLeaf + before.leaves,
      leaves: rows.length,
    }
    if (!(await insertSeal(tx, { ...range, ...place, ids: idsOf(rows), hashes, marks }))) return false
    await addNodes(tx, place)
    return true
  })
}

/** Big-endian, 8 bytes each. */
function idsOf(rows: readonly SealedRow[]): Buffer {
  const ids = Buffer.alloc(rows.length * 8)
  for (const [place, { id }] of rows.entries()) ids.writeBigInt64BE(id, place * 8)
  return ids
}

/** The nodes that the new leaves complete. */
async function addNodes(
  db: Database<Tables>,
  { firstLeaf, leaves }: Pick<SealMark, 'firstLeaf' | 'leaves'>,
): Promise<void> {
  const read = hashReader(db)
  const width = 2 ** heightOfTile
  let [from, to] = [firstLeaf, firstLeaf + leaves]
  for (let height = heightOfTile; to >= width; height += heightOfTile) {
    ;[from, to] = [Math.floor(from / width), Math.floor(to / width)]
    for (let place = from; place < to; place++) {
      const below = await read(height - heightOfTile, place * width, width)
      await insertNode(db, { height, place, hash: rootOf(below) })
    }
  }
}

async function makeCheckpoint(
  db: Database<Tables>,
  signer: NoteSigner | null,
  pinned: string | null,
): Promise<void> {
  const newest = await newestSeal(db)
  if (newest === null) return
  const size = newest.firstLeaf + newest.leaves
  const signedBy = signer === null ? 'unsigned' : `${signer.name}+${signer.id.toString('hex')}`
  const before = await newestCheckpoint(db)
  if (before?.size === size && (signer === null || before.signedBy === signedBy)) return
  const root = await rootOfRange(hashReader(db), { from: 0, to: size })
  const origin = signer?.name ?? unsignedOrigin
  const { firstKey: administrator } = await readRegister(db, pinned)
  const note = writeCheckpoint({ origin, size, root, administrator }, signer)
  await insertCheckpoint(db, { size, signedBy, root, note })
}
