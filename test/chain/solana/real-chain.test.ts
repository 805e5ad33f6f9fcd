import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { getTransferInstruction } from '@solana-program/token'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSolanaReader } from '../../../src/chain/solana/reader.ts'
import type { NetworkSettings, StagedTransfer } from '../../../src/chain/types.ts'
import { type Address, assetKey, type NetworkName } from '../../../src/core/asset.ts'
import { messageOf } from '../../../src/core/errors.ts'
import { type SandboxSolanaNode, startSolana } from '../../../src/sandbox/solana/node.ts'
import { drain } from '../../support/evm-watch.ts'
import { openWallet, type SolanaWallet } from '../../support/solana-wallet.ts'
import { until } from '../../support/until.ts'

const network = 'solana' as NetworkName

let folder: string
let node: SandboxSolanaNode
let wallet: SolanaWallet
let settings: NetworkSettings
let reader: ReturnType<typeof createSolanaReader>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-solana-'))
  node = await startSolana({ folder, slotMs: 50, finalizedLag: 4, log: pino({ level: 'silent' }) })
  wallet = await openWallet(node.url)
  const usdc = {
    key: assetKey(network, wallet.mint as string as Address),
    network,
    symbol: 'USDC',
    decimals: 6,
  }
  const sol = { key: assetKey(network, 'native'), network, symbol: 'SOL', decimals: 9 }
  settings = {
    name: network,
    family: 'solana',
    chainId: null,
    rpcUrls: [node.url],
    assets: [usdc, sol],
  }
  reader = createSolanaReader(settings)
})
afterAll(async () => {
  await node.stop()
  await rm(folder, { recursive: true })
})

function identity({ tx, index }: StagedTransfer): string {
  return `${tx}/${index}`
}

/** Reads on until everything that was sent is final, and answers each transfer once. */
async function receivedBy(owner: KeyPairSigner, act: () => Promise<string>): Promise<StagedTransfer[]> {
  const watched = new Set([owner.address as string as Address])
  const { cursor: start } = await drain(reader, watched, { cursor: null })
  const last = await act()
  await until('finality', () => wallet.isFinal(last))
  const { transfers, cursor } = await drain(reader, watched, { cursor: start })
  const again = await drain(reader, watched, { cursor })
  expect(again.transfers.map(identity).filter((one) => !transfers.map(identity).includes(one))).toEqual([])
  return transfers
}

function brief(transfers: readonly StagedTransfer[]) {
  return transfers.map(({ tx, index, from, amount }) => ({ tx, index: index.split(':')[0], from, amount }))
}

test('its mint is what the settings say, once it is final', async () => {
  expect(await until('the mint is final', checkFinalMint)).toBe(true)
})

async function checkFinalMint(): Promise<true | null> {
  try {
    await reader.checkIdentity()
    return true
  } catch (error) {
    if (messageOf(error).includes('found no token')) return null
    throw error
  }
}

describe.each(['by_owner', 'by_block'] as const)('%s', (solanaStrategy) => {
  beforeAll(() => {
    reader = createSolanaReader(settings, { bounds: { signaturesPerPage: 3 }, solanaStrategy })
  })

  test('tokens to a new associated account and to another account are found, their rent is not', async () => {
    const owner = await generateKeyPairSigner()
    let sent: string[] = []
    const transfers = await receivedBy(owner, async () => {
      const associated = await wallet.createAssociatedAccount(owner.address)
      const plain = await wallet.createTokenAccount(owner.address)
      sent = [await wallet.payTokens(associated, 5n), await wallet.payTokens(plain, 7n)]
      return sent[1] ?? ''
    })
    const from = wallet.signer.address
    expect(brief(transfers)).toEqual([
      { tx: sent[0], index: wallet.mint, from, amount: 5n },
      { tx: sent[1], index: wallet.mint, from, amount: 7n },
    ])
    expect(transfers[0]?.blockHash).toMatch(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
  })

  test('what accounts hold is what was paid to them and what else moved, to the last lamport', async () => {
    const owner = await generateKeyPairSigner()
    const account = await wallet.createAssociatedAccount(owner.address)
    await wallet.payLamports(owner.address, 2_000_000_000n)
    await wallet.sendFailing(owner.address)
    await wallet.payTokens(account, 50n)
    const back = { source: account, destination: wallet.tokens, authority: owner, amount: 20n }
    const last = await wallet.send([
      getTransferInstruction(back),
      getTransferSolInstruction({ source: owner, destination: wallet.signer.address, amount: 5_000_000n }),
    ])
    await until('finality', () => wallet.isFinal(last))
    const addresses = [owner.address, wallet.signer.address].map((one) => one as string as Address)
    const pairs = addresses.flatMap((address) => settings.assets.map(({ key }) => ({ address, asset: key })))
    const { at, balances } = await reader.readBalances({ pairs, at: null })
    const sums = await sumsThrough(at.height, new Set(addresses))
    expect(balances).toEqual(pairs.map(({ address, asset }) => sums.get(`${address} ${asset}`) ?? 0n))
    expect(balances.every((balance) => balance > 0n)).toBe(true)
  })
})

/** What came and went by then, by address and asset. */
async function sumsThrough(height: bigint, watched: ReadonlySet<Address>): Promise<Map<string, bigint>> {
  const sums = new Map<string, bigint>()
  const add = (key: string, amount: bigint) => sums.set(key, (sums.get(key) ?? 0n) + amount)
  for (let from = 0n; from <= height; ) {
    const { transfers, movements, reached } = await reader.readRange({ from, to: height, watched })
    for (const { to, asset, amount } of transfers) add(`${to} ${asset}`, amount)
    for (const { address, asset, change } of movements) add(`${address} ${asset}`, change)
    from = reached + 1n
  }
  return sums
}
