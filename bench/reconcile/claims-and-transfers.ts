import { createHash } from 'node:crypto'
import type { Address, TxId } from '../../src/core/asset.ts'
import {
  type Claim,
  type ObservedChainTransfer,
  type ServiceId,
  type TransferRef,
  transferRef,
} from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { at, claim, payment } from '../../test/support/evidence.ts'

/** What is wrong with a deposit; nothing is with most of them. */
export const troubles = ['missing', 'unclaimed', 'doubled', 'altered', 'keyless', 'reused', 'late'] as const
export type Trouble = (typeof troubles)[number]

/** What a claim is to be matched with, and whether both say the same. */
export type Match = { transfer: TransferRef; agrees: boolean }

export type ClaimsAndTransfers = {
  claims: Claim[]
  chainTransfers: ObservedChainTransfer[]
  /** What is right, of the claims that are to be matched. */
  truth: Map<ServiceId, Match>
  counts: Record<Trouble, number>
}

export type MadeUp = { seed: number; deposits: number; troubledShare: number }

const addresses = 10_000

/** So many deposits, of which that share is troubled, each trouble as often as the others; in a scattered order. */
export function makeClaimsAndTransfers({ seed, deposits, troubledShare }: MadeUp): ClaimsAndTransfers {
  const made: ClaimsAndTransfers = {
    claims: [],
    chainTransfers: [],
    truth: new Map(),
    counts: { missing: 0, unclaimed: 0, doubled: 0, altered: 0, keyless: 0, reused: 0, late: 0 },
  }
  for (let number = 0; number < deposits; number++) {
    const bytes = createHash('sha256').update(`${seed} ${number}`).digest()
    const draw = bytes.readUInt32BE(0) / 2 ** 32
    const trouble = draw < troubledShare ? troubles[(bytes[4] ?? 0) % troubles.length] : undefined
    add(made, depositOf(bytes, number), trouble)
  }
  return made
}

type Deposit = { claimed: Claim; sighted: ObservedChainTransfer }

function depositOf(bytes: Buffer, number: number): Deposit {
  const hex = bytes.toString('hex')
  const tx = `0x${hex}` as TxId
  const address = `0x${((bytes.readUInt32BE(8) % addresses) + 1).toString(16).padStart(40, '0')}` as Address
  const amount = BigInt(1 + bytes.readUInt32BE(12)) as Amount
  const index = ((bytes[16] ?? 0) % 8).toString()
  const minutes = number / 60
  return {
    claimed: {
      ...claim({
        serviceId: `dep_${hex.slice(0, 26)}` as ServiceId,
        status: 'confirmed',
        deposit: { address, amount, tx, index },
        occurredAt: at(minutes + 1),
        receivedAt: at(minutes + 2),
      }),
      settlement: null,
    },
    sighted: payment({ tx, index, to: address, amount, blockAt: at(minutes), receivedAt: at(minutes + 1) }),
  }
}

function add(made: ClaimsAndTransfers, deposit: Deposit, trouble: Trouble | undefined): void {
  const { claimed, sighted } = deposit
  const {
    claims = [claimed],
    chainTransfers = [sighted],
    isMatched = true,
  } = trouble ? reported[trouble](deposit) : {}
  if (trouble !== undefined) made.counts[trouble]++
  made.claims.push(...claims)
  made.chainTransfers.push(...chainTransfers)
  if (isMatched)
    made.truth.set(claimed.serviceId, { transfer: transferRef(sighted), agrees: trouble !== 'altered' })
}

/** Where a trouble changes nothing, a deposit is claimed once, seen once, and matched. */
type Reported = { claims?: Claim[]; chainTransfers?: ObservedChainTransfer[]; isMatched?: false }

const reported: Record<Trouble, (deposit: Deposit) => Reported> = {
  missing: () => ({ chainTransfers: [], isMatched: false }),
  unclaimed: () => ({ claims: [], isMatched: false }),
  doubled: ({ claimed, sighted }) => ({
    claims: [claimed, later(claimed, 5)],
    chainTransfers: [sighted, { ...sighted, stage: 'seen', receivedAt: claimed.receivedAt }],
  }),
  altered: ({ claimed }) => ({
    claims: [withDeposit(claimed, { amount: (claimed.deposit.amount + 1n) as Amount })],
  }),
  keyless: ({ claimed }) => ({ claims: [withDeposit(claimed, { tx: null, index: null })], isMatched: false }),
  // A second deposit is claimed of the transfer that the first was paid by.
  reused: ({ claimed }) => {
    const again = { ...claimed, serviceId: `${claimed.serviceId}_again` as ServiceId }
    return { claims: [claimed, later(again, 5)] }
  },
  // What was said first, and is wrong, arrives last.
  late: ({ claimed, sighted }) => {
    const wrong = later(withDeposit(claimed, { amount: 1n as Amount }), 30)
    return { claims: [claimed, { ...wrong, status: 'observed', occurredAt: sighted.blockAt }] }
  },
}

function withDeposit(claimed: Claim, changes: Partial<Claim['deposit']>): Claim {
  return { ...claimed, deposit: { ...claimed.deposit, ...changes } }
}

function later(claimed: Claim, minutes: number): Claim {
  return { ...claimed, receivedAt: new Date(claimed.receivedAt.getTime() + minutes * 60_000) }
}
