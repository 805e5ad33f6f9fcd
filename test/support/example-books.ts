import { sql } from 'kysely'
import type { Address, AssetKey } from '../../src/core/asset.ts'
import type { Claim, Observation, ObservedChainTransfer, ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { appendMovements } from '../../src/store/chain/chain-transfers.ts'
import { inTransaction } from '../../src/store/database.ts'
import { type Books, openBooks } from './books.ts'
import {
  at,
  base,
  channelAddress,
  claim,
  credit,
  delivery,
  payment,
  txId,
  usdcOnBase,
  usdtOnBase,
  walletAddress,
  webhook,
} from './evidence.ts'

/** One deposit of the examples, in smallest units. What is left out did not happen. */
export type ClaimHistory = {
  number: number
  /** Of the payment's block. */
  minutes: number
  paid: bigint
  asset?: AssetKey
  stated?: bigint
  delivered?: bigint
  fee?: bigint
  /** From the payment to the delivery. */
  deliveredAfterMinutes?: number
}

const hour = 60
const day = 24 * hour

/** The books of docs/accounting.md: what goes well, what goes wrong, and what is taken back, over three days. */
export async function openExampleBooks(): Promise<Books> {
  const books = await openBooks({ now: () => at(3 * day) })
  const direct = { number: 1, minutes: 10 * hour, paid: 100_000_000n }
  const converted = { number: 2, minutes: 11 * hour, paid: 250_000_000n, asset: usdtOnBase }
  const short = { number: 3, minutes: day + 9 * hour, paid: 200_000_000n, stated: 199_800_000n }
  const stuck = { number: 5, minutes: day + 15 * hour, paid: 75_000_000n }
  const unreported = { number: 6, minutes: day + 16 * hour, paid: 40_000_000n }
  const orphaned = { number: 7, minutes: 2 * day + 8 * hour, paid: 60_000_000n }
  const steps: Observation[][] = [
    forwarded({ ...direct, delivered: 99_900_000n, fee: 100_000n }),
    forwarded({ ...converted, delivered: 249_625_125n, fee: 249_875n }),
    forwarded({ ...short, delivered: 179_820_000n, fee: 200_000n }),
    credited({ number: 4, minutes: day + 12 * hour, paid: 20_000_000n, stated: 19_980_000n, fee: 20_000n }),
    [paymentOf(stuck), ...claimsOf(stuck, 'confirmed')],
    [paymentOf(unreported)],
    [paymentOf(orphaned), ...claimsOf(orphaned, 'confirmed')],
    [{ ...paymentOf(orphaned), stage: 'orphaned', epoch: 1 }],
  ]
  for (const observations of steps) {
    await books.receive(...observations)
    await books.settle()
  }
  await proveHoldings(books)
  return books
}

/** The service sent on what it delivered, but for what the StableWallet was paid; and the balances show it. */
async function proveHoldings({ db }: Books): Promise<void> {
  const held = [
    { address: channelAddress, asset: usdcOnBase, sent: [100_000_000n, 200_000_000n], balance: 115_000_000n },
    { address: channelAddress, asset: usdtOnBase, sent: [250_000_000n], balance: 0n },
    { address: walletAddress, asset: usdcOnBase, sent: [], balance: 20_000_000n },
  ]
  await inTransaction(db, (tx) =>
    appendMovements(
      tx,
      held.flatMap(({ address, asset, sent }) =>
        sent.map((amount, place) => sweep({ address, asset, amount, index: `${place}` })),
      ),
    ),
  )
  for (const { address, asset, balance } of held) {
    await sql`
      insert into balance_point (network, address, asset, opening_height, height, balance, checked_at)
      values (${base}, ${address}, ${asset}, 0, 20, ${balance}, ${at(3 * day)})`.execute(db)
  }
}

type Sweep = { address: Address; asset: AssetKey; amount: bigint; index: string }

function sweep({ address, asset, amount, index }: Sweep) {
  const tx = txId(`sweep of ${asset.slice(-2)}`)
  return {
    network: base,
    tx,
    index,
    asset,
    address,
    change: -amount,
    recipients: [],
    height: 15n,
    blockHash: '0xb15c',
  }
}

export function forwarded(claimHistory: ClaimHistory): Observation[] {
  const { number, minutes, delivered = 0n, deliveredAfterMinutes: after = 3 } = claimHistory
  const tx = txId(`forward${number}`)
  const amount = delivered as Amount
  const arrival = delivery({ tx, amount, blockAt: at(minutes + after), receivedAt: at(minutes + after + 1) })
  return [paymentOf(claimHistory), arrival, ...claimsOf(claimHistory, 'settled')]
}

export function credited(claimHistory: ClaimHistory): Observation[] {
  const settlement = { network: 'stable-wallet', address: 'savings', asset: credit, tx: null }
  const claims = claimsOf(claimHistory, 'settled').map((one) => ({
    ...one,
    owner: { kind: 'stable_wallet', id: 'savings' },
    deposit: { ...one.deposit, address: walletAddress },
    settlement: { ...one.settlement, ...settlement },
  }))
  return [{ ...paymentOf(claimHistory), to: walletAddress }, ...(claims as Claim[])]
}

export function paymentOf({
  number,
  minutes,
  paid,
  asset = usdcOnBase,
}: ClaimHistory): ObservedChainTransfer {
  const times = { blockAt: at(minutes), receivedAt: at(minutes + 2) }
  return payment({ tx: txId(`pay${number}`), asset, amount: paid as Amount, ...times })
}

/** The webhook and the record of the newest state. */
export function claimsOf(claimHistory: ClaimHistory, status: Claim['status']): Claim[] {
  const { number, minutes, paid, asset = usdcOnBase, stated = claimHistory.delivered, fee } = claimHistory
  const isDone = status === 'settled'
  const changes = {
    serviceId: `dep_${number}` as ServiceId,
    status,
    deposit: { tx: txId(`pay${number}`), asset, amount: paid as Amount },
    settlement: {
      tx: isDone ? txId(`forward${number}`) : null,
      amount: isDone ? ((stated ?? 0n) as Amount) : null,
      fee: isDone ? ((fee ?? 0n) as Amount) : null,
    },
    occurredAt: at(minutes + 3),
  }
  return [
    webhook({ ...changes, receivedAt: at(minutes + 3) }),
    claim({ ...changes, receivedAt: at(minutes + 5) }),
  ]
}
