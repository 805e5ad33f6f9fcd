import type { Kysely } from 'kysely'
import { byProgram, type OwnerEntry } from '../../core/address-book.ts'
import type { Address, NetworkName } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import type { Owner } from '../../core/evidence.ts'
import type { JsonValue } from '../../people/decision.ts'
import { type AddressEnd, type EndedAddress, endAddresses, settleEnds } from '../../store/address-ends.ts'
import { unlessDryRun } from '../../store/database.ts'
import { keepOwners } from '../../store/owners.ts'
import { addressesToEnd, missingEntries } from '../../store/signed-entries.ts'
import type { Tables } from '../../store/tables.ts'
import type { DecisionProcedure, PreparedDecision } from './decide.ts'
import { refused } from './refuse.ts'

/** A change of the address book, as people sign it. Times are ISO texts. */
export type AddressChange =
  | { action: 'add'; owners: AddedOwner[] }
  | { action: 'end'; owner: Owner; network: string | null; until: string | null; reason: string }

type AddedOwner = {
  owner: Owner
  forward: OwnerEntry['forward']
  createdAt: string | null
  deposits: { network: string; address: string; validFrom: string | null }[]
}

export function additionOf(entries: readonly OwnerEntry[]): AddressChange {
  const owners = entries.map(({ owner, forward, createdAt, deposits }) => ({
    owner,
    forward,
    createdAt: createdAt?.toISOString() ?? null,
    deposits: deposits.map(({ network, address, validFrom }) => ({
      network,
      address,
      validFrom: validFrom?.toISOString() ?? null,
    })),
  }))
  return { action: 'add', owners }
}

/** `entries`: what was added, in the form of the signed text. */
export type AddressChangeResult = { added: number; entries: JsonValue[] } | { ended: EndedAddress[] }

/** @param people how many the settings require */
export function addressProcedure(people: () => 1 | 2): DecisionProcedure {
  return async (db, change) => {
    const wanted = change as AddressChange
    return wanted.action === 'add'
      ? await addition(db, wanted.owners.map(entryOf), people())
      : ending(db, endOf(wanted), people())
  }
}

function entryOf({ createdAt, deposits, ...entry }: AddedOwner): OwnerEntry {
  return {
    ...entry,
    ...(createdAt !== null && { createdAt: new Date(createdAt) }),
    deposits: deposits.map(({ network, address, validFrom }) => ({
      network: network as NetworkName,
      address: address as Address,
      ...(validFrom !== null && { validFrom: new Date(validFrom) }),
    })),
  }
}

async function addition(
  db: Kysely<Tables>,
  entries: readonly OwnerEntry[],
  people: 1 | 2,
): Promise<PreparedDecision> {
  // Also before a second person signs.
  const { conflicts } = await unlessDryRun(db, async (tx) => ({
    result: await keepOwners(tx, entries, byProgram),
    isKept: false,
  }))
  refuseConflicts(conflicts)
  return {
    people,
    async grounds(tx) {
      const books = await missingEntries(tx, entries)
      if (books.length > 0) return { evidence: null, books }
      throw refused('all of it is in the address book', 'see "bin/depositd channels list"')
    },
    async carryOut(tx, who): Promise<AddressChangeResult> {
      const missing = await missingEntries(tx, entries)
      const { added, conflicts: late } = await keepOwners(tx, entries, who)
      refuseConflicts(late)
      return { added, entries: missing }
    },
  }
}

function refuseConflicts(conflicts: readonly { problem: string }[]): void {
  if (conflicts.length > 0)
    throw refused(
      conflicts.map(({ problem }) => problem).join('; '),
      'choose another id, or correct the entry',
    )
}

type PlannedEnd = Omit<AddressEnd, 'people'>

function endOf({ owner, network, until, reason }: Extract<AddressChange, { action: 'end' }>): PlannedEnd {
  const at = until === null ? null : new Date(until)
  return { owner, network: network as NetworkName | null, until: at, reason }
}

function ending(db: Kysely<Tables>, end: PlannedEnd, people: 1 | 2): PreparedDecision {
  let done: { end: AddressEnd; ended: readonly EndedAddress[] } | null = null
  return {
    people,
    async grounds(tx) {
      const books = await addressesToEnd(tx, end)
      if (books.length > 0) return { evidence: null, books }
      const { owner, network } = end
      const what = `${owner.kind === 'channel' ? 'channel' : 'wallet'} ${owner.id}`
      throw new Fault('not_found', {
        problem: `${what}${network === null ? '' : ` on ${network}`} not found`,
        fix: `use an id from "bin/depositd ${owner.kind === 'channel' ? 'channels' : 'wallets'} list"`,
      })
    },
    async carryOut(tx, who): Promise<AddressChangeResult> {
      const decided = { ...end, people: who }
      const ended = await endAddresses(tx, decided)
      done = { end: decided, ended }
      return { ended }
    },
    finish: async () => void (done && (await settleEnds(db, done.end, done.ended))),
  }
}
