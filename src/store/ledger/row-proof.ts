import type { Kysely } from 'kysely'
import { writeProof } from '../../ledger/checkpoint.ts'
import { inclusionPath, isIncluded } from '../../ledger/merkle-tree.ts'
import { encodeRow, leafOf } from '../../ledger/sealed-row.ts'
import type { SealedTableName } from '../../ledger/sealed-tables.ts'
import type { Tables } from '../tables.ts'
import { sealedRowsOf } from './sealed-rows.ts'
import { hashReader, newestCheckpoint, sealOfRow } from './seals.ts'

/** `proof` is a text of c2sp.org/tlog-proof. It ends with the newest checkpoint, which covers `size` rows. */
type IncludedRow = {
  kind: 'included'
  index: number
  size: number
  leafHash: string
  proof: string
  leaf: string
}

/**
 * `uncovered`: no checkpoint covers it yet. `unknown`: no row was sealed under this number. `altered`: the row is not, or no
 * longer, as it was sealed.
 */
export type RowProof = IncludedRow | { kind: 'uncovered' | 'unknown' | 'altered' }

const bytesOfId = 8

export async function proveRow(db: Kysely<Tables>, table: SealedTableName, id: bigint): Promise<RowProof> {
  const [seal, checkpoint] = [await sealOfRow(db, table, id), await newestCheckpoint(db)]
  if (seal === null || checkpoint === null) return { kind: 'uncovered' }
  const place = Array.from({ length: seal.leaves }, (_none, one) =>
    seal.ids.readBigInt64BE(one * bytesOfId),
  ).indexOf(id)
  if (place < 0) return { kind: 'unknown' }
  const [index, { size }] = [seal.firstLeaf + place, checkpoint]
  if (index >= size) return { kind: 'uncovered' }
  const path = await inclusionPath(hashReader(db), index, { from: 0, to: size })
  const [row] = await sealedRowsOf(db, table, [id])
  if (row === undefined || !isIncluded(leafOf(row), { index, path }, checkpoint)) return { kind: 'altered' }
  return {
    kind: 'included',
    index,
    size,
    leafHash: leafOf(row).toString('hex'),
    proof: writeProof(index, path, checkpoint.note),
    leaf: encodeRow(row),
  }
}

/** The hash of the leaf that each journal is or will be in the log, in hexadecimal. */
export async function journalLeaves(
  db: Kysely<Tables>,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, string>> {
  const rows = ids.length === 0 ? [] : await sealedRowsOf(db, 'ledger_journal', ids)
  return new Map(rows.map((row) => [row.id, leafOf(row).toString('hex')]))
}
