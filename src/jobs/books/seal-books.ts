import { rootOf } from '../../ledger/merkle-tree.ts'
import { leafOf, noHash, type Seal, withHash } from '../../ledger/seal.ts'
import { type Database, inTransaction } from '../../store/database.ts'
import { type Cut, cutLedger, patiently } from '../../store/ledger/maintenance.ts'
import { insertSeal, newestSeals, readSealedJournals } from '../../store/ledger/seals.ts'
import type { Tables } from '../../store/tables.ts'

/** Bounds the search in a broken seal and the length of a proof. */
const journalsMax = 4096

type JournalLeaf = { id: string; leaf: Buffer }

/**
 * Reports each seal once it is stored. Of two concurrent runs, one stops.
 * @throws Fault `remote_failed` if open writes do not finish
 */
export async function sealBooks(
  db: Database<Tables>,
  report: (seal: Seal) => void = () => undefined,
): Promise<Seal[]> {
  const [newest = null] = await newestSeals(db, { limit: 1 })
  const after = newest?.last ?? null
  const cut = await patiently('sealing the books', () => inTransaction(db, cutLedger))
  if (cut.lastJournal <= BigInt(after ?? 0)) return []
  const made: Seal[] = []
  const range = { after, last: cut.lastJournal.toString() }
  for await (const leaves of inBatches(leavesOf(db, range), journalsMax)) {
    const seal = sealOver(leaves, made.at(-1) ?? newest, cut)
    if (!(await insertSeal(db, seal, storedLeaves(leaves)))) break
    made.push(seal)
    report(seal)
  }
  return made
}

async function* leavesOf(
  db: Database<Tables>,
  range: { after: string | null; last: string },
): AsyncGenerator<JournalLeaf> {
  for await (const { journals } of readSealedJournals(db, range))
    for (const rows of journals) yield { id: rows.journal.id ?? '', leaf: leafOf(rows) }
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

function sealOver(leaves: readonly JournalLeaf[], before: Seal | null, { lastJournal, at }: Cut): Seal {
  const { number, last, hash } = before ?? { number: '0', last: '0', hash: noHash }
  const isFull = leaves.length === journalsMax
  return withHash({
    number: (BigInt(number) + 1n).toString(),
    after: last,
    // Ids that were never written are sealed as absent.
    last: (isFull ? leaves.at(-1)?.id : null) ?? lastJournal.toString(),
    journals: leaves.length.toString(),
    root: rootOf(leaves.map(({ leaf }) => leaf)).toString('hex'),
    previous: hash,
    sealedAt: at,
  })
}

/** Per leaf: the id in 8 bytes, big-endian, then the hash in 32. */
function storedLeaves(leaves: readonly JournalLeaf[]): Buffer {
  return Buffer.concat(
    leaves.flatMap(({ id, leaf }) => {
      const number = Buffer.alloc(8)
      number.writeBigInt64BE(BigInt(id))
      return [number, leaf]
    }),
  )
}
