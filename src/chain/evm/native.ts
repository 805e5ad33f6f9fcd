import { getTransactionReceipt } from 'viem/actions'
import type { AssetKey } from '../../core/asset.ts'
import { toAmount } from '../../core/money.ts'
import { mapBounded } from '../map-bounded.ts'
import type { ChainTransfer } from '../port.ts'
import type { Block, Blocks, Payment } from './blocks.ts'
import { ask, refusal } from './node.ts'
import type { EvmScan } from './watch.ts'

/** Payments of the native coin by transactions that succeeded. What contracts send emits nothing and is not here. */
export async function nativeTransfers(scan: EvmScan, blocks: Blocks): Promise<ChainTransfer[]> {
  const { native } = scan.watch
  if (native === null) return []
  const offered = [...blocks.values()].flatMap((block) =>
    block.payments.map((payment) => ({ block, payment })),
  )
  const kept = await mapBounded(offered, scan.bounds.requestsAtOnce, async (offer) =>
    (await succeeded(scan, offer)) ? [nativeTransfer(scan, native, offer)] : [],
  )
  return kept.flat()
}

type Offer = { block: Block; payment: Payment }

async function succeeded({ node }: EvmScan, { block, payment }: Offer): Promise<boolean> {
  const what = `receipt of ${payment.tx}`
  const receipt = await ask(node, what, (client) =>
    getTransactionReceipt(client, { hash: payment.tx as `0x${string}` }),
  )
  if (receipt.blockHash !== block.hash)
    throw refusal(node, what, `it is of another block than ${block.height}`)
  return receipt.status === 'success'
}

export function nativeTransfer(
  { watch }: EvmScan,
  asset: AssetKey,
  { block, payment }: Offer,
): ChainTransfer {
  return {
    network: watch.network,
    tx: payment.tx,
    index: 'native',
    asset,
    from: payment.from,
    to: payment.to,
    amount: toAmount(payment.value),
    height: block.height,
    blockHash: block.hash,
    blockAt: block.at,
  }
}
