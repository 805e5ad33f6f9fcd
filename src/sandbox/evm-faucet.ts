import { BaseError, type Address as EvmAddress, type Hash, withRetry } from 'viem'
import { type Address, type AssetKey, assetCode, type TxId, toTxId } from '../core/asset.ts'
import type { Amount } from '../core/money.ts'
import type { EvmClient } from './evm-client.ts'
import { tokenAbi } from './evm-tokens.ts'
import type { Faucet } from './faucet.ts'

/** Accounts whose keys the node holds. */
export type EvmAccounts = { deployer: EvmAddress; treasury: EvmAddress; payer: EvmAddress }

const tokensOfPayerMin = 10n ** 15n

/** @throws Error if the node has too few accounts */
export async function nodeAccounts(client: EvmClient): Promise<EvmAccounts> {
  const [payer, treasury, deployer] = (await client.getAddresses()).slice(-3)
  if (payer === undefined || treasury === undefined || deployer === undefined) {
    throw new Error('the node has too few accounts of its own')
  }
  return { payer, treasury, deployer }
}

/** Mints tokens and sends ether from the treasury. The node assigns the nonces of its accounts. */
export function evmFaucet(client: EvmClient, { deployer, treasury, payer }: EvmAccounts): Faucet {
  // The node may give two transactions sent at once the same nonce, and accepts only the first. Transactions of this
  // process are therefore sent one at a time; if another process was faster, the transaction is sent again.
  const inOrder = oneAtATime()
  const send = (transfer: EvmTransfer): Promise<Hash> =>
    inOrder(() => withRetry(() => sendTransfer(client, transfer), untilNumbered))
  return {
    payer: payer.toLowerCase() as Address,
    async fund(to, asset, amount) {
      const isNative = assetCode(asset) === 'native'
      const from = isNative ? treasury : deployer
      const hash = await send({ from, to, asset, amount, method: 'mint' })
      await client.mine({ blocks: 1 })
      await client.waitForTransactionReceipt({ hash })
    },
    async pay({ asset, to, amount }): Promise<TxId> {
      return toTxId(await send({ from: payer, to, asset, amount, method: 'transfer' }))
    },
    landed: (transaction) => landed(client, transaction),
    balance: (of, asset) => balanceOf(client, of, asset),
  }
}

/** Errors of a used nonce: by another transaction, or by the identical transaction of another process. */
const numberIsTaken = /replacement transaction underpriced|transaction already imported|nonce too low/

const untilNumbered = {
  retryCount: 50,
  // Random, so that two processes do not collide again and again.
  delay: () => 10 + Math.random() * 50,
  shouldRetry: ({ error }: { error: Error }): boolean =>
    error instanceof BaseError && numberIsTaken.test(error.details),
}

async function landed(client: EvmClient, transaction: TxId): Promise<bigint> {
  const { status, blockNumber } = await client.waitForTransactionReceipt({
    hash: transaction as string as Hash,
  })
  if (status !== 'success') throw new Error(`transaction ${transaction} was reverted`)
  return blockNumber
}

async function balanceOf(client: EvmClient, of: Address, asset: AssetKey): Promise<bigint> {
  const code = assetCode(asset)
  const address = of as EvmAddress
  if (code === 'native') return client.getBalance({ address })
  const token = { address: code as EvmAddress, abi: tokenAbi } as const
  return client.readContract({ ...token, functionName: 'balanceOf', args: [address] })
}

type EvmTransfer = {
  from: EvmAddress
  to: Address
  asset: AssetKey
  amount: Amount
  /** Applies to tokens; ether is always transferred. */
  method: 'mint' | 'transfer'
}

/**
 * More gas than any token transfer here needs. An estimate holds only for the balances at that moment: if the receiver
 * is emptied before the transfer is included, writing its balance again costs more.
 */
const tokenGas = 150_000n

async function sendTransfer(
  client: EvmClient,
  { from, to, asset, amount, method }: EvmTransfer,
): Promise<Hash> {
  const code = assetCode(asset)
  const receiver = to as EvmAddress
  if (code === 'native') return client.sendTransaction({ account: from, to: receiver, value: amount })
  return client.writeContract({
    account: from,
    address: code as EvmAddress,
    abi: tokenAbi,
    functionName: method,
    args: [receiver, amount],
    gas: tokenGas,
  })
}

/** Gives the payer tokens for a long demonstration, unless it still has enough. */
export async function stockPayer(
  client: EvmClient,
  { deployer, payer }: EvmAccounts,
  tokens: readonly EvmAddress[],
): Promise<void> {
  for (const address of tokens) {
    const token = { address, abi: tokenAbi } as const
    const held = await client.readContract({ ...token, functionName: 'balanceOf', args: [payer] })
    if (held >= tokensOfPayerMin) continue
    const args = [payer, tokensOfPayerMin * 2n] as const
    await client.writeContract({ ...token, account: deployer, functionName: 'mint', args })
  }
  await client.mine({ blocks: 1 })
}

/**
 * Returns a runner that executes its work one at a time, in the order of the calls. A failure does not stop the next.
 */
function oneAtATime(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work, work)
    last = result.catch(() => undefined)
    return result
  }
}
