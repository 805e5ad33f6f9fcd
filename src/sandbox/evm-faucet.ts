import preset from '@openzeppelin/contracts/build/contracts/ERC20PresetMinterPauser.json' with {
  type: 'json',
}
import {
  BaseError,
  createTestClient,
  defineChain,
  type Address as EvmAddress,
  encodeDeployData,
  getContractAddress,
  type Hash,
  type Hex,
  http,
  parseAbi,
  publicActions,
  walletActions,
  withRetry,
} from 'viem'
import { type Address, type AssetKey, assetCode, type TxId, toTxId } from '../core/asset.ts'
import { assert } from '../core/errors.ts'
import type { Amount } from '../core/money.ts'
import { type Faucet, type TestToken, testTokens, tokenDecimals } from './faucet.ts'

export function openEvmClient(url: string, chainId: number) {
  const chain = defineChain({
    id: chainId,
    name: `local chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  // No retries: a payment or a block whose response is late would be made twice. The dump of a long chain exceeds any
  // limit.
  const transport = http(url, { timeout: 60_000, retryCount: 0, maxResponseBodySize: false })
  return createTestClient({ mode: 'anvil', chain, transport, pollingInterval: 50, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
}

export type EvmClient = ReturnType<typeof openEvmClient>

export const tokenAbi = parseAbi([
  'constructor(string name, string symbol)',
  'function mint(address to, uint256 amount)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
  'function decimals() view returns (uint8)',
])

/** These are the deployer's first transactions, so the addresses are the same on every chain. */
export async function deployTokens(client: EvmClient, deployer: EvmAddress): Promise<EvmAddress[]> {
  const addresses = tokenAddresses(deployer)
  const codes = await Promise.all(addresses.map((address) => client.getCode({ address })))
  for (const [place, token] of testTokens.entries()) {
    if (codes[place] === undefined) await sendDeployment(client, { deployer, token, nonce: place })
  }
  if (codes.includes(undefined)) await client.mine({ blocks: 1 })
  for (const address of addresses) {
    const decimals = await client.readContract({ address, abi: tokenAbi, functionName: 'decimals' })
    assert(decimals === tokenDecimals, `test token ${address} has ${tokenDecimals} decimals`)
  }
  return addresses
}

/** The same on every chain with this deployer. */
export function tokenAddresses(deployer: EvmAddress): EvmAddress[] {
  return testTokens.map((_token, place) => getContractAddress({ from: deployer, nonce: BigInt(place) }))
}

type Deployment = { deployer: EvmAddress; token: TestToken; nonce: number }

async function sendDeployment(client: EvmClient, { deployer, token, nonce }: Deployment): Promise<void> {
  const data = encodeDeployData({
    abi: tokenAbi,
    bytecode: tokenBytecode(),
    args: [token.name, token.symbol],
  })
  await client.sendTransaction({ account: deployer, data, nonce })
}

/** Stores the return value 18 (`6012`) at the free memory pointer, followed by the opcodes of the return. */
const decimalsBody = '60405160128152602001'

/** The preset's `decimals()` always returns 18; the tokens that it stands for have 6. */
function tokenBytecode(): Hex {
  const parts = preset.bytecode.split(decimalsBody)
  assert(parts.length === 2, 'the body of decimals() occurs once in the preset')
  return parts.join(decimalsBody.replace('12', '06')) as Hex
}

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

/** Ether comes from the treasury. The node assigns the nonces of its accounts. */
export function evmFaucet(client: EvmClient, { deployer, treasury, payer }: EvmAccounts): Faucet {
  // The node may give two transactions sent at once the same nonce. Another process may still be faster.
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

/** Used by another transaction, or by the identical one of another process. */
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
  /** Of tokens; ether is always transferred. */
  method: 'mint' | 'transfer'
}

/**
 * More than any token transfer here needs. An estimate is too low if the receiver is emptied meanwhile:
 * writing its balance again costs more.
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

/** A failure does not stop the next. */
function oneAtATime(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work, work)
    last = result.catch(() => undefined)
    return result
  }
}
