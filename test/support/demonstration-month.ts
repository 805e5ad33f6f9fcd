import { sql } from 'kysely'
import type { Address } from '../../src/core/asset.ts'
import type { AccountId } from '../../src/core/chart.ts'
import type { Observation } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { inTransaction } from '../../src/store/database.ts'
import { bookByHand } from '../../src/store/ledger/journals.ts'
import { keepValuation } from '../../src/store/ledger/prices.ts'
import { saveOwner } from '../../src/store/owners.ts'
import { type Books, openBooks } from './books.ts'
import {
  arbitrum,
  at,
  base,
  delivery,
  liquidity,
  policy,
  recipient,
  txId,
  usdcOnArbitrum,
  usdtOnBase,
  withdrawal,
} from './evidence.ts'
import { claimsOf, credited, forwarded, paymentOf } from './example-books.ts'
import { people } from './manual-journals.ts'
import { addPeople, decideTogether, decisionDeps } from './people.ts'
import { givePrices } from './valued-books.ts'

const day = 24 * 60
const storeAddress = '0x00000000000000000000000000000000000000e1' as Address
const store = { kind: 'channel', id: 'store' } as const
export const treasury = `assets:forwarded:arbitrum:${recipient}`
export const basis = {
  currency: 'EUR',
  maxAgeMs: day * 60_000,
  own: [treasury, 'assets:bank:*'],
  method: 'fifo',
  pool: 'account',
} as const

/**
 * January: deposits that go well, are short, credited, withdrawn, written off, refunded, unreported and orphaned, sales,
 * and own funds that are spent, while prices change every day.
 */
export async function openDemonstrationMonth(): Promise<Books> {
  const contras = [{ pattern: { ownerId: store.id }, account: 'income:sales:{id}' }]
  const books = await openBooks({
    now: () => at(31 * day),
    rules: { policy, routes: [], senders: new Set([`arbitrum/${liquidity}`]), contras },
  })
  await saveOwner(books.db, {
    owner: store,
    deposits: [{ network: base, address: storeAddress }],
    forward: { network: arbitrum, asset: 'USDC', recipient },
  })
  await keepValuation(books.db, basis)
  await givePrices(books, prices())
  for (const observations of deposits()) {
    await books.receive(...observations)
    await books.settle()
  }
  await addPeople(books.owner)
  await writeOff(books, 'settlement_short', 20)
  await writeOff(books, 'settlement_missing', 21)
  await spend(books, 30_000_000n, 16)
  await spend(books, 450_000_000n, 25)
  return books
}

function prices(): string[] {
  const days = Array.from({ length: 31 }, (_, place) => place + 1)
  return days.flatMap((one) =>
    ['base/USDC', 'base/USDT', 'arbitrum/USDC', 'stable-wallet/USDC'].map(
      (asset) => `${asset},2026-01-${`${one}`.padStart(2, '0')},0.9${`${(one * 37) % 89}`.padStart(2, '0')}1`,
    ),
  )
}

function deposits(): Observation[][] {
  const refunded = { number: 6, minutes: 9 * day, paid: 30_000_000n }
  const orphaned = { number: 8, minutes: 11 * day, paid: 60_000_000n }
  const lost = { number: 9, minutes: 12 * day, paid: 25_000_000n }
  const [paidOut, amount] = [txId('pay out'), 8_000_000n as Amount]
  const later = { blockAt: at(6 * day), receivedAt: at(6 * day + 2) }
  return [
    forwarded({ number: 1, minutes: day, paid: 100_000_000n, delivered: 99_900_000n, fee: 100_000n }),
    forwarded({
      number: 2,
      minutes: 2 * day - 1,
      paid: 250_000_000n,
      asset: usdtOnBase,
      delivered: 249_625_125n,
      fee: 249_875n,
    }),
    forwarded({
      number: 3,
      minutes: 4 * day,
      paid: 200_000_000n,
      stated: 199_800_000n,
      delivered: 179_820_000n,
      fee: 200_000n,
    }),
    credited({ number: 4, minutes: 5 * day, paid: 20_000_000n, stated: 19_980_000n, fee: 20_000n }),
    [
      withdrawal({ amount, occurredAt: at(6 * day), receivedAt: at(6 * day + 3) }),
      delivery({ tx: paidOut, from: liquidity, amount, ...later }),
    ],
    ofStore(
      forwarded({ number: 5, minutes: 8 * day, paid: 500_000_000n, delivered: 499_500_000n, fee: 500_000n }),
    ),
    [paymentOf(refunded), ...claimsOf(refunded, 'refunded')],
    [paymentOf({ number: 7, minutes: 10 * day, paid: 40_000_000n })],
    [paymentOf(orphaned), ...claimsOf(orphaned, 'confirmed')],
    [{ ...paymentOf(orphaned), stage: 'orphaned', epoch: 1 }],
    [paymentOf(lost), ...claimsOf(lost, 'confirmed')],
  ]
}

/** The same to the address of the store. */
function ofStore(observations: readonly Observation[]): Observation[] {
  return observations.map((one): Observation => {
    if (one.kind === 'claim')
      return { ...one, owner: store, deposit: { ...one.deposit, address: storeAddress } }
    return one.kind === 'chain_transfer' && one.role === 'deposit' ? { ...one, to: storeAddress } : one
  })
}

async function writeOff({ db, deps, owner }: Books, kind: string, onDay: number): Promise<void> {
  const { rows } = await sql<{ id: bigint }>`
    select m.id from open_mismatch m join deposit d on d.id = m.deposit_id
    where m.kind = ${kind} and d.service_id in ('dep_3', 'dep_9')`.execute(db)
  const now = () => at(onDay * day)
  const money = async () => ({ ...deps, now, secondPersonAbove: new Map() })
  const change = {
    mismatch: `${rows[0]?.id}`,
    verdict: 'write_off',
    account: 'expenses:write_off',
    reason: 'agreed with the service',
  }
  await decideTogether({ ...decisionDeps(owner, [], money), now }, { kind: 'write_off', change })
}

/** Own USDC is sold for what it is worth, to the bank. */
async function spend({ owner }: Books, units: bigint, onDay: number): Promise<void> {
  const amount = units as Amount
  const transfers = [
    { debit: 'expenses:supplies' as AccountId, credit: treasury as AccountId, asset: usdcOnArbitrum, amount },
  ]
  const journal = {
    key: `manual/supplies of day ${onDay}`,
    kind: 'manual',
    depositId: null,
    reverses: null,
    eventAt: at(onDay * day),
    transfers,
  } as const
  await inTransaction(owner, (tx) => bookByHand(tx, journal, { ...people, reason: 'supplies' }))
}
