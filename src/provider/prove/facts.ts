import { type Address, type NetworkName, type TxId, toTxId } from '../../core/asset.ts'
import type { ChainTransfer } from '../../core/evidence.ts'
import { columnsOf, hasForm, isAddress, saidAt } from '../infer/columns.ts'
import { listingIn } from '../infer/find-records.ts'
import { comparable, type Hints } from '../infer/hints.ts'
import type { Samples } from '../infer/infer-profile.ts'

/** What one network shows of a transaction that is final there. */
export type TransactionFact =
  | { kind: 'moved'; network: NetworkName; transfers: readonly ChainTransfer[] }
  | { kind: 'failed'; network: NetworkName }

export type SilentNetwork = { network: string; problem: string }

export type ProofFacts = {
  hints: Hints
  /** By id, in canonical spelling. A transaction that no network knows is absent. */
  transactions: ReadonlyMap<TxId, readonly TransactionFact[]>
  /** Networks that could not be asked. */
  silent: readonly SilentNetwork[]
  /** Set if the nodes were left out on purpose. */
  isOffline: boolean
}

export function offlineFacts(hints: Hints): ProofFacts {
  return { hints, transactions: new Map(), silent: [], isOffline: true }
}

const evmForm = /^0x[0-9a-f]{64}$/i

/** What to ask the nodes: every transaction of the samples, and every address that may have received it. */
export type ChainQuestions = { transactions: readonly TxId[]; addresses: ReadonlySet<Address> }

/** Captures may come from attackers. */
const transactionsMax = 400
const addressesMax = 2000

/** The newest transactions first, since nodes may have lost older ones. */
export function questionsOf({ payloads, answers }: Samples, hints: Hints): ChainQuestions {
  const columns = columnsOf([
    ...payloads,
    ...answers.flatMap((answer) => listingIn(answer)?.records ?? [answer]),
  ])
  const transactions = columns
    .filter((column) => hasForm(column, 'transaction'))
    .flatMap((column) => saidAt(column).map(({ text }) => toTxId(text)))
  const addresses = columns.flatMap((column) =>
    saidAt(column).flatMap(({ text }) => (isAddress(text) ? [comparable(text) as Address] : [])),
  )
  const book = [...hints.depositAddresses, ...hints.recipients] as Address[]
  return {
    transactions: [...new Set(transactions.toReversed())].slice(0, transactionsMax),
    addresses: new Set([...new Set(addresses), ...book].slice(0, addressesMax)),
  }
}

export function isOfFamily(text: string, family: 'evm' | 'solana'): boolean {
  return evmForm.test(text) === (family === 'evm')
}
