import { sql } from 'kysely'
import type { Logger } from 'pino'
import { toTxId } from '../../core/asset.ts'
import { inTransaction } from '../../store/database.ts'
import type { Deposits } from '../deposits/deposits.ts'
import { liquidityBranch } from '../keyring/keyring.ts'
import type { Network, Outcome } from '../network/port.ts'
import { mapBounded } from '../running/bounded.ts'
import { describeError } from '../running/describe-error.ts'
import type { ForwardRow, ServiceDatabase } from '../tables.ts'

type Settling = { db: ServiceDatabase; deposits: Deposits; network: Network; log: Logger }

type Judged = { forward: ForwardRow; outcome: Outcome }

const batchMax = 200
const requestsAtOnce = 8

/**
 * Looks how the forwards on this network fare, and returns how many came to an end. Those that the node does not
 * have are sent, always the same bytes, in the order of their nonces: new ones for the first time, and those that a
 * crash or the node has lost.
 */
export async function settleForwards({ db, deposits, network, log }: Settling): Promise<number> {
  const open = await db
    .selectFrom('service.forward')
    .selectAll()
    .where('network', '=', network.settings.name)
    .where('outcome', 'is', null)
    .orderBy('nonce')
    .orderBy('created_at')
    .limit(batchMax)
    .execute()
  const judged = await mapBounded(open, requestsAtOnce, async (forward): Promise<Judged> => {
    const transaction = toTxId(forward.transaction)
    return {
      forward,
      outcome: await network.outcome({ ...forward, transaction, expiresHeight: forward.expires_height }),
    }
  })
  const lost = judged.flatMap(({ forward, outcome }) =>
    outcome.kind === 'open' && !outcome.known ? [forward] : [],
  )
  await sendAll([...(await forgottenForwards(db, network)), ...lost], network, log)
  return saveOutcomes(db, deposits, judged)
}

/**
 * Forwards that had landed, with nonces that the chain expects anew: it lost blocks that were final, as a local node
 * does that is killed. Nothing later can land until they have landed again.
 */
async function forgottenForwards(db: ServiceDatabase, network: Network): Promise<readonly ForwardRow[]> {
  const nextNonce = await network.nextNonce(liquidityBranch)
  if (nextNonce === null) return []
  return db
    .selectFrom('service.forward')
    .selectAll()
    .where('network', '=', network.settings.name)
    .where('outcome', '=', 'landed')
    .where('nonce', '>=', nextNonce)
    .orderBy('nonce')
    .limit(batchMax)
    .execute()
}

async function sendAll(forwards: readonly ForwardRow[], network: Network, log: Logger): Promise<void> {
  for (const { deposit_id: deposit, bytes } of forwards) {
    try {
      await network.send(bytes)
    } catch (error) {
      log.warn({ deposit, problem: describeError(error) }, 'forward not accepted, will be sent again')
    }
  }
}

/** A reverted or expired attempt moved nothing and never will: the deposit may be forwarded by another. */
function saveOutcomes(db: ServiceDatabase, deposits: Deposits, judged: readonly Judged[]): Promise<number> {
  const ended = judged.filter(({ outcome }) => outcome.kind !== 'open')
  if (ended.length === 0) return Promise.resolve(0)
  return inTransaction(db, async (tx) => {
    await sql`
      update service.forward as forward set outcome = ended.outcome
      from unnest(
        ${ended.map(({ forward }) => forward.transaction)}::text[],
        ${ended.map(({ outcome }) => outcome.kind)}::text[]
      ) as ended (transaction, outcome)
      where forward.transaction = ended.transaction and forward.outcome is null`.execute(tx)
    const settled = ended.flatMap(({ forward, outcome }) =>
      outcome.kind === 'landed'
        ? [{ id: forward.deposit_id, status: 'settled' as const, to_at: outcome.at }]
        : [],
    )
    await deposits.change(tx, ['forwarding'], settled)
    return ended.length
  })
}
