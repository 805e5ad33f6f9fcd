import { readDestination } from '../address/destination.ts'
import { byProgram, type OwnerEntry, ownerKey } from '../core/address-book.ts'
import type { Address, NetworkName, NetworkSettings } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import type { Owner } from '../core/evidence.ts'
import { earliest } from '../core/time.ts'
import type { LineFault, OwnerFileRow } from '../provider/owners-file.ts'
import { type Database, unlessDryRun } from '../store/database.ts'
import { keepOwners, ownersAt } from '../store/owners.ts'
import { missingEntries } from '../store/signed-entries.ts'
import type { Tables } from '../store/tables.ts'

export type ImportDeps = { db: Database<Tables>; networks: readonly NetworkSettings[] }

export type OwnerImport = { kind: Owner['kind']; rows: readonly OwnerFileRow[] }

/** `added`: owners that the address book lacks. `isNew` is false if it has all of it. */
export type OwnerImportCheck =
  | {
      kind: 'valid'
      entries: readonly OwnerEntry[]
      owners: number
      added: number
      addresses: number
      isNew: boolean
    }
  | { kind: 'refused'; faults: readonly LineFault[] }

/** What a file would add to the address book, if no line has a problem. Stores nothing. */
export async function checkImport(deps: ImportDeps, { kind, rows }: OwnerImport): Promise<OwnerImportCheck> {
  const { entries, faults } = gather(rows, { kind, networks: deps.networks })
  if (faults.length > 0) return { kind: 'refused', faults }
  const owners = [...entries.values()]
  const addresses = owners.reduce((sum, { deposits }) => sum + deposits.length, 0)
  return unlessDryRun<Tables, OwnerImportCheck>(deps.db, async (tx) => {
    const isNew = (await missingEntries(tx, owners)).length > 0
    const { added, conflicts } = await keepOwners(tx, owners, byProgram)
    const problems = conflicts.map(({ owner, network, problem }) => ({
      line: lineOf(rows, (row) => row.id === owner.id && (network === null || row.network === network)),
      problem,
    }))
    const recipients = owners.flatMap(({ forward }) => (forward === null ? [] : [forward.recipient]))
    const circles = (await ownersAt(tx, recipients)).map(({ address, owner }) => ({
      line: lineOf(rows, (row) => isForwardedTo(row, address)),
      problem: `${address} is a deposit address of ${ownerKey(owner)}: forwarded amounts would arrive there as new deposits`,
    }))
    const found = [...problems, ...circles]
    const counts = { owners: owners.length, added, addresses, isNew }
    return {
      result:
        found.length > 0 ? { kind: 'refused', faults: found } : { kind: 'valid', entries: owners, ...counts },
      isKept: false,
    }
  })
}

type Entries = { entries: Map<string, OwnerEntry>; faults: LineFault[] }

function gather(
  rows: readonly OwnerFileRow[],
  { kind, networks }: { kind: Owner['kind']; networks: readonly NetworkSettings[] },
): Entries {
  const [entries, faults]: [Entries['entries'], LineFault[]] = [new Map(), []]
  const refuse = ({ line }: OwnerFileRow, problem: string) => faults.push({ line, problem })
  for (const row of rows) {
    const read = readRow(networks, row)
    if (read.kind === 'unreadable') {
      for (const problem of read.problems) refuse(row, problem)
      continue
    }
    const { deposit, forward } = read
    const earlier: OwnerEntry = entries.get(row.id) ?? { owner: { kind, id: row.id }, deposits: [], forward }
    if (JSON.stringify(earlier.forward) !== JSON.stringify(forward))
      refuse(row, `${row.id} forwards to another address on an earlier line`)
    if (earlier.deposits.some((one) => one.network === deposit.network && one.address !== deposit.address))
      refuse(row, `${row.id} has another address on ${deposit.network} on an earlier line`)
    const createdAt = earliest([earlier.createdAt ?? null, row.createdAt ?? null])
    const deposits = [...earlier.deposits, deposit]
    entries.set(row.id, { ...earlier, deposits, ...(createdAt !== null && { createdAt }) })
  }
  return { entries, faults }
}

type ReadRow =
  | { kind: 'read'; deposit: OwnerEntry['deposits'][number]; forward: OwnerEntry['forward'] }
  | { kind: 'unreadable'; problems: readonly string[] }

function readRow(networks: readonly NetworkSettings[], row: OwnerFileRow): ReadRow {
  const deposit = readAddress(networks, row)
  const target = row.forward && readAddress(networks, { ...row.forward, address: row.forward.recipient })
  if (typeof deposit === 'string' || typeof target === 'string')
    return { kind: 'unreadable', problems: [deposit, target].filter((one) => typeof one === 'string') }
  const { network, address: recipient } = target ?? deposit
  const forward = row.forward && { network, asset: row.forward.asset, recipient }
  const { validFrom } = row
  return { kind: 'read', deposit: { ...deposit, ...(validFrom && { validFrom }) }, forward }
}

function readAddress(
  networks: readonly NetworkSettings[],
  { network: name, address }: { network: string; address: string },
): { network: NetworkName; address: Address } | string {
  const network = networks.find((one) => one.name === (name as NetworkName))
  if (network === undefined)
    return `unknown network ${name}; known networks: ${networks.map((one) => one.name).join(', ')}`
  const destination = readDestination(network, address)
  return destination.kind === 'valid'
    ? { network: network.name, address: destination.address }
    : destination.problem
}

function isForwardedTo({ forward }: OwnerFileRow, address: Address): boolean {
  return forward !== null && forward.recipient.toLowerCase() === address.toLowerCase()
}

function lineOf(rows: readonly OwnerFileRow[], isMeant: (row: OwnerFileRow) => boolean): number {
  return rows.find(isMeant)?.line ?? 0
}

/** @throws Fault `settings_bad` that names every line */
export function refuseImport(path: string, faults: readonly LineFault[]): never {
  const sorted = faults.toSorted((left, right) => left.line - right.line)
  throw new Fault('settings_bad', {
    faults: sorted.map(({ line, problem }) => `${path} line ${line}: ${problem}`),
  })
}
