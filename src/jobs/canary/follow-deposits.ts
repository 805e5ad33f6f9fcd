import type { Kysely } from 'kysely'
import type { Address, Asset } from '../../core/asset.ts'
import { type CanaryDepositOutcome, type CanaryPlace, depositCanary } from '../../core/canary.ts'
import { lineOf } from '../../core/errors.ts'
import {
  claimCanary,
  endPayments,
  findPayments,
  giveUpPayment,
  keepCanaryOwner,
  namePayment,
  startPayment,
} from '../../store/canary.ts'
import { inTransaction } from '../../store/database.ts'
import { readOwners } from '../../store/owners.ts'
import type { Tables } from '../../store/tables.ts'

export type DepositResult = {
  network: string
  /** Null if it was reported before. */
  outcome: CanaryDepositOutcome | null
  /** From the payment to the last report of all sources; null if unknown. */
  seconds: number | null
  /** Why it could not be paid; null if it could. */
  problem: string | null
}

type CanaryPaymentOrder = { asset: Asset; to: Address; amount: CanaryPlace['amount'] }

export type FollowDepositsDeps = {
  db: Kysely<Tables>
  place: Omit<CanaryPlace, 'asset'> & { asset: Asset }
  everyMs: number
  withinMs: number
  /** Pays, and reports the transaction hash before sending it. Null if another process pays. */
  pay: ((order: CanaryPaymentOrder, onSigned: (tx: string) => Promise<void>) => Promise<void>) | null
  observe: (result: DepositResult) => void
}

/** Ends the completed canaries of a network, and pays the next one if it is due. */
export async function followDeposits(deps: FollowDepositsDeps): Promise<void> {
  const { db, place, withinMs, pay, observe } = deps
  const { network, owner } = place
  const name = depositCanary(network)
  // The owner may have entered the address book since the last call.
  await keepCanaryOwner(db, { name, owner })
  if (pay === null) await findPayments(db, { name, owner, network, asset: place.asset.key })
  for (const ended of await endPayments(db, { name, network, withinMs })) {
    observe({ network, ...ended, problem: null })
  }
  if (pay === null) return
  const begun = await begin(deps)
  if (begun !== null) await payOnce(deps, pay, begun)
}

type Begun = { id: bigint; to: Address } | { problem: string }

/** Starts the next payment if one is due. Atomic: if it is not recorded, it stays due. */
function begin({ db, place, everyMs }: FollowDepositsDeps): Promise<Begun | null> {
  const { network, asset, amount, owner } = place
  return inTransaction(db, async (tx) => {
    if (!(await claimCanary(tx, { name: depositCanary(network), everyMs }))) return null
    const to = await addressOf(tx, place)
    if (to === null)
      return {
        problem: `${owner.kind} ${owner.id} has no deposit address on ${network} in the address book`,
      }
    return { id: await startPayment(tx, { network, asset: asset.key, amount, address: to }), to }
  })
}

async function payOnce(
  { db, place, observe }: FollowDepositsDeps,
  pay: NonNullable<FollowDepositsDeps['pay']>,
  begun: Begun,
): Promise<void> {
  const { network, asset, amount } = place
  if ('problem' in begun) {
    observe({ network, outcome: 'unpaid', seconds: null, problem: begun.problem })
    return
  }
  const { id, to } = begun
  let isSigned = false
  try {
    await pay({ asset, to, amount }, async (tx) => {
      await namePayment(db, { id, network, tx })
      isSigned = true
    })
  } catch (error) {
    // A signed transaction may have reached a node, so it is awaited as if it had.
    if (isSigned) throw error
    if (await giveUpPayment(db, id))
      observe({ network, outcome: 'unpaid', seconds: null, problem: lineOf(error) })
  }
}

async function addressOf(
  db: Kysely<Tables>,
  { network, owner: { kind, id } }: FollowDepositsDeps['place'],
): Promise<Address | null> {
  const [entry] = await readOwners(db, kind, [id])
  return entry?.deposits.find((one) => one.network === network)?.address ?? null
}
