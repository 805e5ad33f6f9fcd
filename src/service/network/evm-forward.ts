import {
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  isHex,
  keccak256,
  type PublicClient,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from 'viem'
import type { NetworkSettings } from '../../chain/port.ts'
import { assetCode, toTxId } from '../../core/asset.ts'
import { assert, Fault } from '../../core/errors.ts'
import type { Keyring } from '../keyring/keyring.ts'
import type { Draft, Order, Outcome } from './port.ts'

type Purse = { client: PublicClient; settings: NetworkSettings; keyring: Keyring }

/** The estimate holds for the state it was made on; the transfer may run on another. */
const gasMarginPercent = 130n
/** The bytes are never replaced, so they must stay good while the base fee climbs. */
const baseFeeMargin = 4n

/** Fails where the transfer is expected to fail, so that no nonce is spent on it. */
export async function draftEvmForward({ client, settings, keyring }: Purse, order: Order): Promise<Draft> {
  const payer = keyring.evmAccount(order.branch)
  const call = callOf(order)
  const [estimate, fees, balance] = await Promise.all([
    client.estimateGas({ account: payer.address, ...call }),
    currentFees(client),
    client.getBalance({ address: payer.address, blockTag: 'latest' }),
  ])
  const gas = (estimate * gasMarginPercent) / 100n
  const needed = call.value + gas * fees.maxFeePerGas
  if (balance < needed) {
    const problem = `${payer.address} holds ${balance} wei, and ${needed} are needed`
    throw new Fault('remote_failed', { what: `paying on ${settings.name}`, problem })
  }
  return {
    amount: order.amount,
    sign: async (nonce) => {
      assert(nonce !== null && settings.chainId !== null, 'EVM transactions have a nonce and a chain id')
      const bytes = await payer.signTransaction({
        type: 'eip1559',
        chainId: settings.chainId,
        nonce: Number(nonce),
        gas,
        ...fees,
        ...call,
      })
      const transaction = toTxId(keccak256(bytes))
      return { transaction, bytes: Buffer.from(bytes.slice(2), 'hex'), nonce, expiresHeight: null }
    },
  }
}

/** Landed and reverted are told only of transactions in a final block. */
export async function evmOutcome(client: PublicClient, transaction: string): Promise<Outcome> {
  assert(isHex(transaction), 'an EVM transaction is known by its hash')
  const final = await client.getBlock({ blockTag: 'finalized' })
  const receipt = await client.getTransactionReceipt({ hash: transaction }).catch(nullIfNotFound)
  if (receipt === null) return { kind: 'open', known: await isKnown(client, transaction) }
  if (receipt.blockNumber > final.number) return { kind: 'open', known: true }
  if (receipt.status === 'reverted') return { kind: 'reverted' }
  const block = await client.getBlock({ blockNumber: receipt.blockNumber })
  return { kind: 'landed', at: new Date(Number(block.timestamp) * 1000) }
}

async function currentFees(client: PublicClient) {
  const [block, maxPriorityFeePerGas] = await Promise.all([
    client.getBlock({ blockTag: 'latest' }),
    client.estimateMaxPriorityFeePerGas(),
  ])
  const maxFeePerGas = (block.baseFeePerGas ?? 0n) * baseFeeMargin + maxPriorityFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas }
}

function callOf({ to, asset, amount }: Order): { to: Hex; value: bigint; data?: Hex } {
  const code = assetCode(asset)
  if (code === 'native') return { to: getAddress(to), value: amount }
  const args = [getAddress(to), amount] as const
  return {
    to: getAddress(code),
    value: 0n,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }),
  }
}

async function isKnown(client: PublicClient, hash: Hex): Promise<boolean> {
  return (await client.getTransaction({ hash }).catch(nullIfNotFound)) !== null
}

function nullIfNotFound(error: unknown): null {
  const found = error instanceof TransactionReceiptNotFoundError || error instanceof TransactionNotFoundError
  if (!found) throw error
  return null
}
