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
  /** Null where it was told before. */
  outcome: CanaryDepositOutcome | null
  /** From the payment to the last word of all sources; null where it is not said. */
  seconds: number | null
  /** What kept it from being paid; null where nothing did. */
  problem: string | null
}

type CanaryPaymentOrder = { asset: Asset; to: Address; amount: CanaryPlace['amount'] }

export type FollowDepositsDeps = {
  db: Kysely<Tables>
  place: Omit<CanaryPlace, 'asset'> & { asset: Asset }
  everyMs: number
  withinMs: number
  /** Pays, and tells of the transaction before it is sent; null where somebody else pays. */
  pay: ((order: CanaryPaymentOrder, onSigned: (tx: string) => Promise<void>) => Promise<void>) | null
  observe: (result: DepositResult) => void
}

/** Ends the canaries of a network that have come to their end, and pays the next one where it is due. */
export async function followDeposits(deps: FollowDepositsDeps): Promise<void> {
  const { db, place, withinMs, pay, observe } = deps
  const { network, owner } = place
  const name = depositCanary(network)
  // It may have come to the address book only now.
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

/** Takes the next payment on, where one is due. All or nothing: what is not noted is due again at once. */
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
    // What was signed may have reached a node all the same: it is waited for as if it had.
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
