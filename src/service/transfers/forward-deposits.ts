import { sql } from 'kysely'
import type { Logger } from 'pino'
import { type AssetCode, assetKey } from '../../core/asset.ts'
import { assert, Fault } from '../../core/errors.ts'
import { inTransaction } from '../../store/database.ts'
import { convert, quoteColumns, tooSmall } from '../deposits/convert.ts'
import type { Deposits } from '../deposits/deposits.ts'
import type { Quote, QuoteSettings } from '../deposits/quote.ts'
import type { Faults } from '../faults/faults.ts'
import { liquidityBranch } from '../keyring/keyring.ts'
import type { Draft, Network } from '../network/port.ts'
import { describeError } from '../running/describe-error.ts'
import type { Postponed } from '../running/postponed.ts'
import type { DepositRow, ServiceDatabase, ServiceTransaction } from '../tables.ts'

export type Forwarding = {
  db: ServiceDatabase
  deposits: Deposits
  network: Network
  quotes: QuoteSettings
  faults: Faults
  postponed: Postponed
  log: Logger
}

type Planned = {
  deposit: DepositRow
  quoted: Quote
  sent: bigint
  draft: Draft
  /** What the chain expects next. */
  nextNonce: bigint | null
}

const batchMax = 50

/**
 * Signs a forward for each final deposit that goes to this network, and returns how many states changed. Sending
 * them is left to `settleForwards`, which sends whatever the node does not have.
 * One that cannot be forwarded now, for want of a price, of liquidity or of the node, waits and is tried again.
 */
export async function forwardDeposits(forwarding: Forwarding): Promise<number> {
  const { db, network, postponed, log } = forwarding
  const waiting = await waitingDeposits(db, network)
  let changed = 0
  for (const deposit of waiting.filter(({ id }) => postponed.isDue(id))) {
    try {
      changed += (await forwardOne(forwarding, deposit)) ? 1 : 0
      postponed.done(deposit.id)
    } catch (error) {
      const failures = postponed.failed(deposit.id)
      log.warn({ deposit: deposit.id, failures, problem: describeError(error) }, 'forward postponed')
    }
  }
  return changed
}

/** Confirmed, or forwarding by an attempt that came to nothing: no attempt of them has moved money or still can. */
async function waitingDeposits(db: ServiceDatabase, { settings }: Network): Promise<readonly DepositRow[]> {
  return db
    .selectFrom('service.deposit as deposit')
    .selectAll()
    .where('to_network', '=', settings.name)
    .where('status', 'in', ['confirmed', 'forwarding'])
    .where(
      sql<boolean>`not exists (
        select from service.forward
        where deposit_id = deposit.id and (outcome is null or outcome = 'landed'))`,
    )
    .orderBy('sequence')
    .limit(batchMax)
    .execute()
}

async function forwardOne(forwarding: Forwarding, deposit: DepositRow): Promise<boolean> {
  const { db, deposits, network, faults } = forwarding
  const quoted = quoteOf(forwarding.quotes, deposit)
  if (quoted.amount === 0n) {
    const changed = await inTransaction(db, (tx) =>
      deposits.change(tx, ['confirmed'], [tooSmall(deposit, quoted)]),
    )
    return changed.length > 0
  }
  const sent = faults.strikes('shortForwardRate', deposit) ? shortened(quoted.amount) : quoted.amount
  const asset = assetKey(network.settings.name, codeOf(deposit))
  const to = deposit.to_address as Parameters<Network['draft']>[0]['to']
  const draft = await network.draft({
    branch: liquidityBranch,
    to,
    asset,
    amount: sent,
    reference: deposit.id,
    feeFrom: 'payer',
  })
  const nextNonce = await network.nextNonce(liquidityBranch)
  return store(forwarding, { deposit, quoted, sent, draft, nextNonce })
}

/** A deposit that was quoted once keeps its quote, however often its forward is signed. */
function quoteOf(quotes: QuoteSettings, deposit: DepositRow): Quote {
  const { to_amount: amount, fee, rate } = deposit
  if (amount !== null && fee !== null && rate !== null)
    return { amount: BigInt(amount), fee: BigInt(fee), rate }
  const quoted = convert(quotes, deposit)
  if (quoted !== null) return quoted
  const problem = `there is no price for ${deposit.asset}/${deposit.to_asset}`
  throw new Fault('remote_failed', { what: 'converting', problem })
}

function codeOf({ to_contract: contract }: DepositRow): AssetCode {
  return contract ?? 'native'
}

/** What is sent where a fault is wanted: a tenth less than claimed, and at least one unit less. */
function shortened(amount: bigint): bigint {
  const tenth = amount / 10n
  const less = amount - (tenth > 0n ? tenth : 1n)
  return less > 0n ? less : amount
}

/**
 * Signs and stores the forward, with the state and the event that tell of it, before a byte of it is sent: a crash
 * after this finds the bytes, a crash before it finds nothing that could land. The row of the network serialises the
 * nonces; a nonce that was never committed is used by the next forward.
 */
function store(
  forwarding: Forwarding,
  { deposit, quoted, sent, draft, nextNonce }: Planned,
): Promise<boolean> {
  const { db, deposits, network } = forwarding
  return inTransaction(db, async (tx) => {
    const nonce = await takeNonce(tx, network, nextNonce)
    const signed = await draft.sign(nonce)
    const change = { id: deposit.id, status: 'forwarding', to_transaction: signed.transaction } as const
    const changed = await deposits.change(tx, [deposit.status], [{ ...change, ...quoteColumns(quoted) }])
    if (changed.length === 0) return false
    const attempts = await tx
      .selectFrom('service.forward')
      .select((select) => select.fn.countAll<bigint>().as('count'))
      .where('deposit_id', '=', deposit.id)
      .executeTakeFirstOrThrow()
    await tx
      .insertInto('service.forward')
      .values({
        transaction: signed.transaction,
        deposit_id: deposit.id,
        attempt: Number(attempts.count) + 1,
        network: network.settings.name,
        nonce: signed.nonce,
        expires_height: signed.expiresHeight,
        amount: sent.toString(),
        bytes: Buffer.from(signed.bytes),
        outcome: null,
      })
      .execute()
    await saveNextNonce(tx, network, signed.nonce)
    return true
  })
}

/** The chain can be ahead of what was stored where the wallet was used before; it is behind while forwards wait. */
async function takeNonce(
  tx: ServiceTransaction,
  { settings }: Network,
  nextNonce: bigint | null,
): Promise<bigint | null> {
  const stream = await tx
    .selectFrom('service.stream')
    .select('next_nonce')
    .where('network', '=', settings.name)
    .forUpdate()
    .executeTakeFirstOrThrow()
  if (nextNonce === null) return null
  return nextNonce > stream.next_nonce ? nextNonce : stream.next_nonce
}

async function saveNextNonce(
  tx: ServiceTransaction,
  { settings }: Network,
  nonce: bigint | null,
): Promise<void> {
  if (nonce === null) return
  const set = tx.updateTable('service.stream').set({ next_nonce: nonce + 1n })
  const { numUpdatedRows } = await set.where('network', '=', settings.name).executeTakeFirstOrThrow()
  assert(numUpdatedRows === 1n, 'every network has its row')
}
