import type { NetworkSettings, TxId } from '../../../src/core/asset.ts'
import type { Hints } from '../../../src/provider/infer/hints.ts'
import type { ProofFacts, TransactionFact } from '../../../src/provider/prove/facts.ts'
import type { MadeDeposit, MadeOwner, WorldStyle } from './shapes.ts'

type FactContext = { networks: readonly NetworkSettings[]; owners: readonly MadeOwner[]; style: WorldStyle }

/** What the chains and the address book show of made-up deposits. */
export function factsOf(
  deposits: readonly MadeDeposit[],
  { networks, owners, style }: FactContext,
): ProofFacts {
  const transactions = new Map<TxId, TransactionFact[]>()
  for (const { payment, delivery, refund, sweepTx, steps } of deposits) {
    const { network, tx } = payment
    const isFailed = style.isFailureOnChain && steps.at(-1)?.meaning === 'failed'
    transactions.set(tx, [
      isFailed ? { kind: 'failed', network } : { kind: 'moved', network, transfers: [payment] },
    ])
    for (const part of delivery?.parts ?? [])
      transactions.set(part.tx, [{ kind: 'moved', network: part.network, transfers: [part] }])
    if (refund !== null)
      transactions.set(refund.tx, [{ kind: 'moved', network: refund.network, transfers: [refund] }])
    transactions.set(sweepTx, [{ kind: 'moved', network: payment.network, transfers: [] }])
  }
  const held = owners.flatMap(({ id, addresses }) =>
    [...addresses.values()].map((one): [string, string] => [one, id]),
  )
  const hints: Hints = style.hasBook
    ? {
        networks,
        depositAddresses: new Set(held.map(([address]) => address)),
        recipients: new Set(owners.flatMap(({ forward }) => (forward === null ? [] : [forward.recipient]))),
        owners: new Map(owners.map(({ id, kind }) => [id, kind])),
        addressOwners: new Map(held),
      }
    : { networks, depositAddresses: new Set(), recipients: new Set(), owners: new Map() }
  return { hints, transactions, silent: [], isOffline: false }
}
