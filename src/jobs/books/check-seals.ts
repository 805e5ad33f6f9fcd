import { isSignedBy, type NoteKey, readCheckpoint, type SignedCheckpoint } from '../../ledger/checkpoint.ts'
import { createTree, type Tree } from '../../ledger/merkle-tree.ts'
import { type SealedTableName, sealedTableNames } from '../../ledger/sealed-tables.ts'
import type { Database } from '../../store/database.ts'
import { readableTables } from '../../store/ledger/sealed-rows.ts'
import {
  afterSize,
  checkpointsAfter,
  countUnsealed,
  hashesIn,
  newestCheckpoint,
  type Seal,
  type StoredCheckpoint,
  sealsAfter,
} from '../../store/ledger/seals.ts'
import type { Tables } from '../../store/tables.ts'
import { compareRows } from './compare-rows.ts'
import type { LedgerCheck } from './ledger-checks.ts'

/** What a log is checked against. */
export type LogTrust = {
  /** Checkpoints that were published, by size. */
  published: ReadonlyMap<number, SignedCheckpoint>
  /** Keys of this log; without any, no signature is checked. */
  keys: readonly NoteKey[]
}

/** How far a check has come. */
export type LogCheck = {
  /** Number of the last checked seal. */
  seal: bigint
  size: number
  tree: Tree
  lastOf: Map<SealedTableName, bigint>
  isSigned: boolean
  /** The stored leaves are not those of the checkpoints: nothing is said about later ones. */
  isOther: boolean
}

export function startCheck(): LogCheck {
  return { seal: 0n, size: 0, tree: createTree(), lastOf: new Map(), isSigned: false, isOther: false }
}

export type CheckedSeal = { seal: Seal; rows: number; faults: string[] }

const sealsOfPage = 20

/** Goes on from `check`, and moves it. Rows of other tables than `tables` are not compared. */
export async function* checkSeals(
  db: Database<Tables>,
  check: LogCheck,
  { tables, ...trust }: LogTrust & { tables: readonly SealedTableName[] },
): AsyncGenerator<CheckedSeal> {
  for (;;) {
    const seals = await sealsAfter(db, check.seal, sealsOfPage)
    if (seals.length === 0) return
    for (const seal of seals) {
      const order = faultOfOrder(check, seal)
      const compared = tables.includes(seal.table) ? await compareRows(db, seal) : { rows: 0, faults: [] }
      const ofTree = await addLeaves(db, check, { seal, trust })
      yield { seal, rows: compared.rows, faults: [...order, ...compared.faults, ...ofTree] }
    }
  }
}

function faultOfOrder(check: LogCheck, { number, table, after, last, firstLeaf, ...seal }: Seal): string[] {
  const faults = [
    number !== check.seal + 1n && `it follows seal ${check.seal}: the seals between are missing`,
    (firstLeaf !== check.size || after !== (check.lastOf.get(table) ?? null)) &&
      'it does not continue the seals before it',
    (seal.ids.length !== seal.leaves * 8 || seal.hashes.length !== seal.leaves * 32) &&
      'the seal itself is altered',
  ].filter((fault) => fault !== false)
  check.seal = number
  check.lastOf.set(table, last)
  check.isOther ||= faults.length > 0
  return faults.slice(0, 1)
}

async function addLeaves(
  db: Database<Tables>,
  check: LogCheck,
  { seal, trust }: { seal: Seal; trust: LogTrust },
): Promise<string[]> {
  const stored = await storedWithin(db, check.size, check.size + seal.leaves)
  const faults: string[] = []
  for (const leaf of hashesIn(seal.hashes)) {
    check.tree.add(leaf)
    check.size++
    const published = trust.published.get(check.size)
    const own = stored.get(check.size)
    if (own !== undefined) faults.push(...faultsOfCheckpoints(check, own, trust.keys))
    if (published !== undefined && !check.isOther && !check.tree.root().equals(published.root))
      faults.push(
        `checkpoint ${check.size} differs from the published one, whose root is ${published.root.toString('base64')}`,
      )
  }
  return faults
}

/** More than can be made of so few rows. */
const checkpointsMax = 100_000

async function storedWithin(
  db: Database<Tables>,
  from: number,
  to: number,
): Promise<ReadonlyMap<number, readonly StoredCheckpoint[]>> {
  return Map.groupBy(
    await checkpointsAfter(db, afterSize(from), { to, limit: checkpointsMax }),
    ({ size }) => size,
  )
}

function faultsOfCheckpoints(
  check: LogCheck,
  stored: readonly StoredCheckpoint[],
  keys: readonly NoteKey[],
): string[] {
  if (check.isOther) return []
  const root = check.tree.root()
  check.isOther = stored.some((one) => !one.root.equals(root))
  if (check.isOther) return [`checkpoint ${check.size} is over other rows: seals or checkpoints were altered`]
  const notes = stored.map(({ size, note }) => {
    const read = readCheckpoint(note)
    return read?.size === size && read.root.equals(root) ? read : null
  })
  if (notes.includes(null)) return [`checkpoint ${check.size}: its note is altered`]
  const isSigned = notes.some((note) => note !== null && keys.some((key) => isSignedBy(note, key)))
  const isRefused =
    keys.length > 0 && !isSigned && (check.isSigned || notes.some((note) => note?.signatures.length !== 0))
  check.isSigned ||= isSigned
  return isRefused ? [notSigned(check.size, keys)] : []
}

function notSigned(size: number, keys: readonly NoteKey[]): string {
  return `checkpoint ${size} is not signed by ${keys.map(({ name }) => name).join(' or ')}`
}

/** The seals after the last one are missing, or the newest checkpoint is not signed. */
export async function faultsOfEnd(
  db: Database<Tables>,
  check: LogCheck,
  keys: readonly NoteKey[],
): Promise<string[]> {
  const newest = await newestCheckpoint(db)
  if (newest === null) return []
  const [isCut, isUnsigned] = [
    newest.size > check.size,
    keys.length > 0 && !check.isSigned && !check.isOther && newest.size === check.size,
  ]
  return [
    ...(isCut
      ? [`checkpoint ${newest.size}: the log ends at row ${check.size}; its last seals are missing`]
      : []),
    ...(isUnsigned
      ? [`checkpoint ${newest.size} is not signed by ${keys.map(({ name }) => name).join(' or ')}`]
      : []),
  ]
}

export function sealsCheck(trust: LogTrust): LedgerCheck {
  return {
    name: 'seals',
    async run(db, report) {
      const tables = await readableTables(db)
      const check = startCheck()
      const findings: string[] = []
      const counted: Record<string, number> = { seals: 0, rows: 0, 'not sealed yet': 0 }
      const matching: number[] = []
      let rows = 0
      for await (const { seal, faults, rows: count } of checkSeals(db, check, { ...trust, tables })) {
        findings.push(...faults.map((fault) => `seal ${seal.number}: ${fault}`))
        if (faults.length === 0)
          matching.push(...[...trust.published.keys()].filter((size) => isWithin(seal, size)))
        rows += count
        counted.seals = Number(seal.number)
        counted.rows = rows
        report(`seals: ${rows} rows of ${counted.seals} seals checked`)
      }
      findings.push(
        ...(await faultsOfEnd(db, check, trust.keys)),
        ...faultsOfPublished(trust, check, matching),
      )
      counted['not sealed yet'] = await countUnsealed(db, tables)
      const left = sealedTableNames.length - tables.length
      return {
        findings,
        counted: left === 0 ? counted : { ...counted, 'tables that this login may not read': left },
      }
    },
  }
}

function isWithin({ firstLeaf, leaves }: Seal, size: number): boolean {
  return size > firstLeaf && size <= firstLeaf + leaves
}

/**
 * Published checkpoints beyond the end of the log. If checkpoints match only up to one of them, the books were cut off
 * there or continued differently, as in a restored copy.
 */
function faultsOfPublished(
  { published }: LogTrust,
  { size }: LogCheck,
  matching: readonly number[],
): string[] {
  const beyond = [...published.values()].filter((one) => one.size > size)
  const missing = beyond.map(
    (one) =>
      `checkpoint ${one.size} was published, and the log ends at row ${size}: its last rows are missing`,
  )
  const [last, first] = [
    Math.max(0, ...matching),
    Math.min(...[...published.keys()].filter((one) => !matching.includes(one))),
  ]
  if (matching.length === published.size || last === 0 || first < last) return missing
  const parting = `the log matches the published checkpoints up to row ${last} and differs after it. This also happens after a restore: see "Backup" in docs/operations.md`
  return [...missing, parting]
}
