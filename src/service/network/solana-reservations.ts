import { signature as toSignature } from '@solana/kit'
import type { Address, AssetKey } from '../../core/asset.ts'
import type { SolanaNetworkRpc } from './solana-accounts.ts'

export type HolderAsset = { holder: Address; asset: AssetKey }

export type Take = HolderAsset & { amount: bigint }

/** Reserved by transactions that a balance at or after `slot` may not include. */
export type ReservedFunds = { slot: bigint; of(wallet: HolderAsset): bigint }

/**
 * Funds of signed transactions that no balance shows yet. In memory only: a transaction that does not land soon never
 * does.
 */
export type SolanaReservations = {
  add(signed: { transaction: string; expiresHeight: bigint; takes: readonly Take[] }): void
  /** Includes those noted later. */
  reserved(rpc: SolanaNetworkRpc, holderAssets: readonly HolderAsset[]): Promise<ReservedFunds>
}

type PendingSpend = { expiresHeight: bigint; takes: readonly Take[] }

/** Per query, by the node's limit. */
const statusesMax = 256

export function createSolanaReservations(): SolanaReservations {
  const open = new Map<string, PendingSpend>()
  /** Still counts transactions that have ended since. */
  const noted = new Map<string, bigint>()
  /** A balance at this slot includes every transaction that was dropped because it landed. */
  let newestSlot = 0n

  const settle = async (rpc: SolanaNetworkRpc): Promise<void> => {
    for (const { signature, slot } of await findEnded(rpc, open)) {
      open.delete(signature)
      if (slot !== null && slot > newestSlot) newestSlot = slot
    }
  }
  return {
    add({ transaction, ...one }) {
      open.set(transaction, one)
      for (const take of one.takes) noted.set(keyOf(take), (noted.get(keyOf(take)) ?? 0n) + take.amount)
    },
    async reserved(rpc, holderAssets) {
      await settle(rpc)
      const takes = [...open.values()].flatMap((one) => one.takes)
      const before = new Map(
        holderAssets.map((wallet) => [
          keyOf(wallet),
          sumOf(takes, wallet) - (noted.get(keyOf(wallet)) ?? 0n),
        ]),
      )
      return {
        slot: newestSlot,
        of: (wallet) => (before.get(keyOf(wallet)) ?? 0n) + (noted.get(keyOf(wallet)) ?? 0n),
      }
    },
  }
}

/** The slot is null if the transaction expired. */
type EndedSignature = { signature: string; slot: bigint | null }

async function findEnded(
  rpc: SolanaNetworkRpc,
  open: ReadonlyMap<string, PendingSpend>,
): Promise<EndedSignature[]> {
  const ended: EndedSignature[] = []
  const all = [...open]
  for (let start = 0; start < all.length; start += statusesMax) {
    ended.push(...(await endedAmong(rpc, all.slice(start, start + statusesMax))))
  }
  return ended
}

/** The height is read first: a transaction that expired by then and is unknown afterwards never landed. */
async function endedAmong(
  rpc: SolanaNetworkRpc,
  some: readonly [string, PendingSpend][],
): Promise<EndedSignature[]> {
  const height = await rpc.getBlockHeight({ commitment: 'confirmed' }).send()
  const { value } = await rpc.getSignatureStatuses(some.map(([signature]) => toSignature(signature))).send()
  return some.flatMap(([signature, { expiresHeight }], place): EndedSignature[] => {
    const status = value[place] ?? null
    if (status === null) return height > expiresHeight ? [{ signature, slot: null }] : []
    return status.confirmationStatus === 'processed' ? [] : [{ signature, slot: status.slot }]
  })
}

function keyOf({ holder, asset }: HolderAsset): string {
  return `${holder}/${asset}`
}

function sumOf(takes: readonly Take[], wallet: HolderAsset): bigint {
  return takes.filter((take) => keyOf(take) === keyOf(wallet)).reduce((sum, { amount }) => sum + amount, 0n)
}
