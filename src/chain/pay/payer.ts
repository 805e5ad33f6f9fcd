import { encodeFunctionData, erc20Abi, type Hex, keccak256, toHex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { estimateFeesPerGas, estimateGas, getTransactionCount, sendRawTransaction } from 'viem/actions'
import { type Address, assetCode, type Family, toTxId } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { type Amount, formatAmount } from '../../core/money.ts'
import { requireChain } from '../evm/identity.ts'
import { ask, type EvmNode, openNode, refusal } from '../evm/node.ts'
import { connections, defaultBounds, type ReaderOptions } from '../options.ts'
import { createPool } from '../pool.ts'
import type { NetworkSettings } from '../types.ts'
import type { Payer, PaymentOrder } from './payment.ts'
import { readKey } from './read-key.ts'
import { createSolanaPayer } from './solana-payer.ts'

/** Pays on a network with EIP-1559 fees. */
function createEvmPayer(settings: NetworkSettings, options: ReaderOptions = {}): Payer {
  const { name, chainId } = settings
  if (chainId === null) throw new Fault('settings_bad', { faults: [`network ${name} has no chain id`] })
  const pool = createPool({
    nodes: connections(settings, options).map(openNode),
    restMs: options.bounds?.restMs ?? defaultBounds.restMs,
    identify: (node) => requireChain(node, settings),
  })
  return async (order, { key, feeMax, onSigned }) => {
    const account = privateKeyToAccount(toHex(readKey(key, settings)))
    const draft = await pool.onFirst(async (node) => {
      const prepared = await prepare(node, account, order)
      requireFee(node, prepared, feeMax)
      return prepared
    })
    const raw = await account.signTransaction({ type: 'eip1559', chainId, ...draft })
    await onSigned(toTxId(keccak256(raw)))
    // The same signed transaction can safely go to another node: it is included at most once.
    await pool.onFirst((node) =>
      ask(node, 'sending a payment', (client) => sendRawTransaction(client, { serializedTransaction: raw })),
    )
  }
}

type EvmPaymentCall = { to: Hex; value: bigint; data?: Hex }

/** Gas limit in percent of the estimate: the state of the recipient contract may change before inclusion. */
const gasPercent = 150n

async function prepare(node: EvmNode, { address }: PrivateKeyAccount, order: PaymentOrder) {
  const transfer = transferOf(order)
  return ask(node, 'preparing a payment', async (client) => {
    const [nonce, gas, fees] = await Promise.all([
      getTransactionCount(client, { address, blockTag: 'pending' }),
      estimateGas(client, { account: address, ...transfer }),
      estimateFeesPerGas(client),
    ])
    const { maxFeePerGas, maxPriorityFeePerGas } = fees
    return { ...transfer, nonce, gas: (gas * gasPercent) / 100n, maxFeePerGas, maxPriorityFeePerGas }
  })
}

const nativeDecimals = 18

/** Limits the fee that a node suggests: a dishonest node could burn the whole balance of the wallet. */
function requireFee(
  node: EvmNode,
  { gas, maxFeePerGas }: { gas: bigint; maxFeePerGas: bigint },
  feeMax: Amount,
): void {
  const fee = gas * maxFeePerGas
  if (fee <= feeMax) return
  const [asked, allowed] = [fee, feeMax].map((amount) => formatAmount(amount, nativeDecimals))
  const problem = `the fee could come to ${asked}, and feeMax is ${allowed}`
  throw refusal(node, 'preparing a payment', problem)
}

function transferOf({ asset, to, amount }: PaymentOrder): EvmPaymentCall {
  const code = assetCode(asset.key)
  if (code === 'native') return { to: hexOf(to), value: amount }
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [hexOf(to), amount] })
  return { to: hexOf(code), value: 0n, data }
}

function hexOf(address: Address): Hex {
  return address as string as Hex
}

/** Pays on a network. @throws Fault `settings_bad` if the settings name no node */
export function createPayer(settings: NetworkSettings, options: ReaderOptions = {}): Payer {
  return payers[settings.family](settings, options)
}

const payers: Record<Family, typeof createPayer> = { evm: createEvmPayer, solana: createSolanaPayer }
