import {
  BaseError,
  createPublicClient,
  erc20Abi,
  fallback,
  getAddress,
  type Hex,
  http,
  isAddressEqual,
  isHex,
  type PublicClient,
  parseEventLogs,
  parseTransaction,
  recoverTransactionAddress,
  TransactionNotFoundError,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem'
import { type Asset, assetCode, type NetworkSettings } from '../../core/asset.ts'
import { assert, Fault } from '../../core/errors.ts'
import { type Keyring, liquidityBranch } from '../keyring/keyring.ts'
import { createRequestCoalescer, describeError, type RequestCoalescer } from '../running/requests.ts'
import { createBlockScanner } from './block-scan.ts'
import {
  draftEvm,
  type EvmWallet,
  gasLackEvm,
  lackOf,
  nativeOf,
  signEvm,
  type TransactionWithoutNonce,
} from './evm-draft.ts'
import {
  bumped,
  type Fees,
  isSufficient,
  leastFee,
  raisedFees,
  readMarket,
  readRollupFee,
} from './evm-fees.ts'
import { createReservations, readBalance, readFunds, readTokenTransfer } from './evm-funds.ts'
import { evmSource, startEvm } from './evm-source.ts'
import type { NetworkClient, SignedTransferOutcome, TransferDraft, TransferOrder } from './port.ts'

const timeoutMs = 10_000

export function openEvm(settings: NetworkSettings, keyring: Keyring): NetworkClient {
  const client: PublicClient = createPublicClient({
    transport: fallback(settings.rpcUrls.map((url) => http(url, { timeout: timeoutMs, retryCount: 1 }))),
    // Without this, viem caches the block number.
    cacheTime: 0,
  })
  const liquidity = keyring.address('evm', liquidityBranch)
  const wallet: EvmWallet = {
    client,
    settings,
    keyring,
    reservations: createReservations(),
    coalesce: createRequestCoalescer(),
  }
  return {
    settings,
    check: () => checkEvm(client, settings),
    start: () => startEvm(client),
    scan: createBlockScanner(evmSource({ client, settings, liquidity })),
    draft: (order) => asFault(settings, draftEvm(wallet, order)),
    gasLack: (order) => asFault(settings, gasLackEvm(wallet, order)),
    redraft: (bytes, payer) => asFault(settings, redraftEvm(wallet, bytes, payer)),
    send: async (bytes) => {
      const serializedTransaction = `0x02${Buffer.from(bytes.subarray(1)).toString('hex')}` as const
      wallet.reservations.add(
        await recoverTransactionAddress({ serializedTransaction }),
        serializedTransaction,
      )
      await client.sendRawTransaction({ serializedTransaction })
    },
    nextNonce: async (branch) => {
      const { address } = keyring.evmAccount(branch)
      return BigInt(await client.getTransactionCount({ address, blockTag: 'latest' }))
    },
    outcome: ({ transaction }) => evmOutcome(wallet, transaction),
    balance: (branch, asset) =>
      readBalance(client, keyring.evmAccount(branch).address, { asset, blockTag: 'latest' }),
  }
}

async function checkEvm(client: PublicClient, { name, chainId, assets }: NetworkSettings): Promise<void> {
  const actual = await client.getChainId()
  if (actual !== chainId) {
    throw new Fault('settings_bad', { faults: [`the RPC of ${name} serves chain ${actual}, not ${chainId}`] })
  }
  const problems = await Promise.all(assets.map((asset) => decimalsProblem(client, asset)))
  const faults = problems.filter((problem) => problem !== null)
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
}

async function decimalsProblem(client: PublicClient, { key, decimals }: Asset): Promise<string | null> {
  const code = assetCode(key)
  if (code === 'native') return decimals === 18 ? null : `${key} has 18 decimals, not ${decimals}`
  const contract = { address: getAddress(code), abi: erc20Abi, functionName: 'decimals' } as const
  const actual = await client.readContract(contract)
  return actual === decimals ? null : `${key} has ${actual} decimals, not ${decimals}`
}

/** The caller retries later. */
async function asFault<Result>({ name }: NetworkSettings, asked: Promise<Result>): Promise<Result> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    const details = { what: `paying on ${name}`, problem: describeError(error) }
    throw new Fault('remote_failed', details, { cause: error })
  }
}

type EvmOutcomeDeps = { client: PublicClient; coalesce: RequestCoalescer }

/** `landed` and `reverted` only if the block is final. */
async function evmOutcome(
  { client, coalesce }: EvmOutcomeDeps,
  transaction: string,
): Promise<SignedTransferOutcome> {
  assert(isHex(transaction), 'an EVM transaction is known by its hash')
  const final = await coalesce('final', () => client.getBlock({ blockTag: 'finalized' }))
  const receipt = await client.getTransactionReceipt({ hash: transaction }).catch(nullIfNotFound)
  if (receipt === null) return { kind: 'open', known: await isKnown(client, transaction) }
  if (receipt.blockNumber > final.number) return { kind: 'open', known: true }
  if (receipt.status === 'reverted') return { kind: 'reverted' }
  const { blockNumber } = receipt
  const block = await coalesce(`block ${blockNumber}`, () => client.getBlock({ blockNumber }))
  if (block.hash !== receipt.blockHash) return { kind: 'open', known: true }
  const { input, to } = await client.getTransaction({ hash: transaction })
  const transfer = input === '0x' ? null : readTokenTransfer(input)
  if (transfer !== null && !moved(receipt, { from: receipt.from, to: transfer.to, token: to }))
    return { kind: 'reverted' }
  return { kind: 'landed', at: new Date(Number(block.timestamp) * 1000) }
}

type TokenTransferParties = { from: Hex; to: Hex; token: Hex | null }

/**
 * A token may return false instead of reverting; then nothing moved and nothing was logged. If it logged another
 * amount, funds moved, and the transfer is not paid again.
 */
function moved({ logs }: TransactionReceipt, { from, to, token }: TokenTransferParties): boolean {
  return parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs }).some(
    ({ address, args }) =>
      token !== null &&
      isAddressEqual(address, token) &&
      isAddressEqual(args.from, from) &&
      isAddressEqual(args.to, to) &&
      args.value > 0n,
  )
}

async function isKnown(client: PublicClient, hash: Hex): Promise<boolean> {
  return (await client.getTransaction({ hash }).catch(nullIfNotFound)) !== null
}

function nullIfNotFound(error: unknown): null {
  const found = error instanceof TransactionReceiptNotFoundError || error instanceof TransactionNotFoundError
  if (!found) throw error
  return null
}

type OrderPayer = Pick<TransferOrder, 'branch' | 'feeFrom'>

/** Keeps the nonce, so that only one of the two can land. If the fee comes off the amount, the recipient gets less. */
async function redraftEvm(
  wallet: EvmWallet,
  bytes: Uint8Array,
  payer: OrderPayer,
): Promise<TransferDraft | null> {
  const { client, settings } = wallet
  const old = readOld(bytes)
  const market = await readMarket(client)
  if (isSufficient(old, market)) return null
  const holder = wallet.keyring.evmAccount(payer.branch).address
  // The pending block contains the old transaction.
  const asked = { holder, assets: [nativeOf(settings)], tags: ['latest'] } as const
  const [landed, funds, rollupFee] = await Promise.all([
    client.getTransactionCount({ address: holder, blockTag: 'latest' }),
    readFunds(wallet, asked),
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
      return signEvm(wallet, payer.branch, { ...compose(), nonce: old.nonce })
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
