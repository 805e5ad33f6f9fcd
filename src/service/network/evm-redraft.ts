import { type Hex, parseTransaction } from 'viem'
import { assert, Fault } from '../../core/errors.ts'
import { type EvmWallet, lackOf, nativeOf, signEvm, type TransactionWithoutNonce } from './evm-draft.ts'
import { bumped, type Fees, isGood, leastFee, raisedFees, readMarket, readRollupFee } from './evm-fees.ts'
import { readFunds } from './evm-funds.ts'
import { readTokenTransfer } from './evm-promises.ts'
import type { TransferDraft, TransferOrder } from './port.ts'

type OrderPayer = Pick<TransferOrder, 'branch' | 'feeFrom'>

/**
 * The same transfer at a higher fee, with the nonce of the old one, so that only one of the two can land. Where the
 * fee comes off the amount, what arrives is less by what the fee is more.
 */
export async function redraftEvm(
  purse: EvmWallet,
  bytes: Uint8Array,
  payer: OrderPayer,
): Promise<TransferDraft | null> {
  const { client, settings } = purse
  const old = readOld(bytes)
  const market = await readMarket(client)
  if (isGood(old, market)) return null
  const holder = purse.keyring.evmAccount(payer.branch).address
  // The node's idea of the next block has the old transaction in it, which this one takes the place of.
  const asked = { holder, assets: [nativeOf(settings)], tags: ['latest'] } as const
  const [landed, funds, rollupFee] = await Promise.all([
    client.getTransactionCount({ address: holder, blockTag: 'latest' }),
    readFunds(purse, asked),
    readRollupFee(client),
  ])
  if (landed > old.nonce) return null
  const wanted = raisedFees(old, market)
  const least = greater(leastFee(market), bumped(old.maxFeePerGas))
  const transfer = readTokenTransfer(old.data)
  const fromAmount = payer.feeFrom === 'amount' && transfer === null
  const compose = (): TransactionWithoutNonce => {
    if (fromAmount) return lowered(old, wanted)
    const free = funds.freeBeside(nativeOf(settings), BigInt(old.nonce))
    const most = (free - old.value - rollupFee) / old.gas
    if (most < least) throw lackOf(settings, { needed: old.value + rollupFee + old.gas * least, free })
    return { ...old, ...wanted, maxFeePerGas: most < wanted.maxFeePerGas ? most : wanted.maxFeePerGas }
  }
  const { value = 0n } = compose()
  return {
    amount: transfer?.amount ?? value,
    sign: (nonce) => {
      assert(nonce === BigInt(old.nonce), 'a replacement has the nonce of what it replaces')
      return signEvm(purse, payer.branch, { ...compose(), nonce: old.nonce })
    },
  }
}

type Old = TransactionWithoutNonce & Fees & { nonce: number; value: bigint; gas: bigint }

function readOld(bytes: Uint8Array): Old {
  const hex: Hex = `0x${Buffer.from(bytes).toString('hex')}`
  const { type, chainId, to, data, gas, nonce = 0, value = 0n, ...fees } = parseTransaction(hex)
  const { maxFeePerGas, maxPriorityFeePerGas = 0n } = fees
  assert(type === 'eip1559' && chainId !== undefined && gas !== undefined, 'the bytes are our own')
  assert(maxFeePerGas !== undefined, 'and state their fee')
  return { chainId, nonce, to, value, gas, maxFeePerGas, maxPriorityFeePerGas, ...(data && { data }) }
}

function lowered(old: Old, fees: Fees): TransactionWithoutNonce {
  const value = old.value - old.gas * (fees.maxFeePerGas - old.maxFeePerGas)
  if (value > 0n) return { ...old, ...fees, value }
  const problem = `a transfer of ${old.value} wei cannot pay for a higher fee`
  throw new Fault('remote_failed', { what: 'raising a fee', problem })
}

function greater(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}
