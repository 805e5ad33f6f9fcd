import {
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  keccak256,
  type PublicClient,
  type TransactionSerializableEIP1559,
} from 'viem'
import { type AssetKey, assetCode, assetKey, type NetworkSettings, toTxId } from '../../core/asset.ts'
import { assert, Fault } from '../../core/errors.ts'
import type { Keyring } from '../keyring/keyring.ts'
import type { RequestCoalescer } from '../running/requests.ts'
import { ampleFees, type Fees, leastFee, type Market, readMarket, readRollupFee } from './evm-fees.ts'
import { type Funds, type Reservations, readFunds } from './evm-funds.ts'
import type { SignedTransfer, TransferDraft, TransferOrder } from './port.ts'

export type EvmWallet = {
  client: PublicClient
  settings: NetworkSettings
  keyring: Keyring
  reservations: Reservations
  coalesce: RequestCoalescer
}

export type TransactionWithoutNonce = Omit<TransactionSerializableEIP1559, 'nonce'> & Fees

type EvmTransferCall = { to: Hex; value: bigint; data?: Hex }
type GasEstimate = { gas: bigint; market: Market; rollupFee: bigint }

/** A plain transfer of the native coin uses exactly this. The usage of other calls can change after the estimate. */
const plainGas = 21_000n
/** The estimate is for the current state; the transfer may run on another. */
const gasMarginPercent = 130n
/** A recipient may be a contract that burns gas; an ordinary token transfer uses far less. */
const gasMax = 200_000n
/** Arbitrum One, Nova and Sepolia include the L1 fee in the gas: on busy days a multiple. */
const arbitrumChainIds: ReadonlySet<number> = new Set([42_161, 42_170, 421_614])
const arbitrumGasMax = 3_000_000n

/**
 * Fails if the transfer is expected to, so that no nonce is spent. Signing also fails if lower nonces leave too little.
 */
export async function draftEvm(wallet: EvmWallet, order: TransferOrder): Promise<TransferDraft> {
  const funds = await fundsFor(wallet, order)
  requireHeld(wallet.settings, order, funds.held(order.asset))
  const price = await priceOf(wallet, order)
  const compose = takesFeeOff(order) ? composeWithin : composeBeside
  const drafted = { settings: wallet.settings, order, price, funds }
  // Composed for its checks and the amount that arrives, which does not depend on the nonce.
  const { value } = compose(drafted, 0n)
  return {
    amount: takesFeeOff(order) ? (value ?? 0n) : order.amount,
    sign: (nonce) => {
      assert(nonce !== null, 'EVM transactions have a nonce')
      return signEvm(wallet, order.branch, { ...compose(drafted, nonce), nonce: Number(nonce) })
    },
  }
}

/** Assumes ample fees. Zero if the balance covers the least fees, so that it is not topped up twice. */
export async function gasLackEvm(wallet: EvmWallet, order: TransferOrder): Promise<bigint> {
  if (takesFeeOff(order)) return 0n
  const [funds, { gas, market, rollupFee }] = await Promise.all([
    fundsFor(wallet, order),
    priceOf(wallet, order),
  ])
  const beside = callOf(order).value + rollupFee
  const held = funds.held(nativeOf(wallet.settings))
  if (held >= beside + gas * leastFee(market)) return 0n
  return beside + gas * ampleFees(market).maxFeePerGas - held
}

export async function signEvm(
  { keyring, reservations }: EvmWallet,
  branch: number,
  transaction: TransactionSerializableEIP1559,
): Promise<SignedTransfer> {
  const payer = keyring.evmAccount(branch)
  const bytes = await payer.signTransaction({ ...transaction, type: 'eip1559' })
  reservations.add(payer.address, bytes)
  return {
    transaction: toTxId(keccak256(bytes)),
    bytes: Buffer.from(bytes.slice(2), 'hex'),
    nonce: BigInt(transaction.nonce ?? 0),
    expiresHeight: null,
  }
}

export function nativeOf({ name }: NetworkSettings): AssetKey {
  return assetKey(name, 'native')
}

type EvmDraftInput = { settings: NetworkSettings; order: TransferOrder; price: GasEstimate; funds: Funds }

function composeWithin(
  { settings, order, price, funds }: EvmDraftInput,
  nonce: bigint,
): TransactionWithoutNonce {
  const { gas, market, rollupFee } = price
  requireHeld(settings, order, funds.free(order.asset, nonce))
  const fees = ampleFees(market)
  const fee = gas * fees.maxFeePerGas + rollupFee
  if (order.amount <= fee) {
    const problem = `${order.amount} wei cannot pay the fee of their own transfer, up to ${fee} wei`
    throw new Fault('remote_failed', { what: `paying on ${settings.name}`, problem })
  }
  return { ...base(settings, gas), ...fees, to: getAddress(order.to), value: order.amount - fee }
}

/** The fee comes on top: ample if the address can pay it, else the most it can. */
function composeBeside(
  { settings, order, price, funds }: EvmDraftInput,
  nonce: bigint,
): TransactionWithoutNonce {
  const { gas, market, rollupFee } = price
  requireHeld(settings, order, funds.free(order.asset, nonce))
  const call = callOf(order)
  const most = (funds.free(nativeOf(settings), nonce) - call.value - rollupFee) / gas
  const { maxFeePerGas, maxPriorityFeePerGas } = ampleFees(market)
  if (most < leastFee(market)) {
    const needed = call.value + rollupFee + gas * leastFee(market)
    throw lackOf(settings, { needed, free: funds.free(nativeOf(settings), nonce) })
  }
  const fees = { maxFeePerGas: most < maxFeePerGas ? most : maxFeePerGas, maxPriorityFeePerGas }
  return { ...base(settings, gas), ...fees, ...call }
}

function base({ chainId }: NetworkSettings, gas: bigint): { chainId: number; gas: bigint } {
  assert(chainId !== null, 'EVM networks have a chain id')
  return { chainId, gas }
}

function fundsFor(wallet: EvmWallet, { branch, asset }: TransferOrder): Promise<Funds> {
  const assets = [...new Set([asset, nativeOf(wallet.settings)])]
  const holder = wallet.keyring.evmAccount(branch).address
  // Nonce and balance must come from the same reading.
  return wallet.coalesce(`funds ${holder} ${asset}`, () =>
    readFunds(wallet, { holder, assets, tags: ['latest', 'pending'] }),
  )
}

async function priceOf(
  { client, keyring, coalesce, settings }: EvmWallet,
  order: TransferOrder,
): Promise<GasEstimate> {
  const account = keyring.evmAccount(order.branch).address
  const [estimate, market, rollupFee] = await Promise.all([
    client.estimateGas({ account, ...callOf(order) }),
    coalesce('market', () => readMarket(client)),
    coalesce('rollup fee', () => readRollupFee(client)),
  ])
  const most = arbitrumChainIds.has(settings.chainId ?? 0) ? arbitrumGasMax : gasMax
  if (estimate > most) {
    const problem = `the transfer to ${order.to} would use ${estimate} gas; the limit is ${most}`
    throw new Fault('remote_failed', { what: `paying on ${settings.name}`, problem })
  }
  const gas = estimate === plainGas ? plainGas : (estimate * gasMarginPercent) / 100n
  return { gas, market, rollupFee }
}

/** Fees are paid in the native coin, so they can come off only an amount of it. */
function takesFeeOff({ feeFrom, asset }: TransferOrder): boolean {
  return feeFrom === 'amount' && assetCode(asset) === 'native'
}

function callOf({ to, asset, amount }: TransferOrder): EvmTransferCall {
  const code = assetCode(asset)
  if (code === 'native') return { to: getAddress(to), value: amount }
  const args = [getAddress(to), amount] as const
  return {
    to: getAddress(code),
    value: 0n,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }),
  }
}

function requireHeld({ name }: NetworkSettings, { asset, amount }: TransferOrder, free: bigint): void {
  if (free >= amount) return
  const problem = `insufficient funds: ${free} of ${asset} available, ${amount} needed`
  throw new Fault('remote_failed', { what: `paying on ${name}`, problem })
}

export function lackOf({ name }: NetworkSettings, { needed, free }: { needed: bigint; free: bigint }): Fault {
  const problem = `insufficient funds: ${free} wei available, ${needed} needed`
  return new Fault('remote_failed', { what: `paying on ${name}`, problem })
}
