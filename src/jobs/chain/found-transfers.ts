import type { StagedTransfer } from '../../chain/port.ts'
import type { ObservedChainTransfer } from '../../core/evidence.ts'
import type { WatchEntry } from '../../store/chain/chain-watch.ts'

type ObservedTransferInput = {
  transfers: readonly StagedTransfer[]
  book: readonly WatchEntry[]
  epoch: number
  now: Date
}

/** Turns transfers to watched addresses into evidence, once per role of the address. */
export function foundChainTransfers({
  transfers,
  book,
  epoch,
  now,
}: ObservedTransferInput): ObservedChainTransfer[] {
  const entries = Map.groupBy(book, ({ address }) => address)
  return transfers.flatMap(({ stage, ...transfer }) =>
    (entries.get(transfer.to) ?? []).map(({ role }) => ({
      kind: 'chain_transfer' as const,
      stage,
      role,
      epoch,
      receivedAt: now,
      ...transfer,
    })),
  )
}
