import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSolanaRpc, generateKeyPairSigner, type Instruction, type KeyPairSigner } from '@solana/kit'
import { getCreateAccountInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getMintToInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSolanaReader } from '../../../src/chain/solana/reader.ts'
import { type Address, type AssetKey, assetKey, type NetworkName } from '../../../src/core/asset.ts'
import { type SandboxSolanaNode, startSolana } from '../../../src/sandbox/solana/node.ts'
import { openWallet, type SolanaWallet } from '../../support/solana-wallet.ts'
import { makeMint, mintBytes, token2022Program, transferFee } from '../../support/token-2022.ts'
import { until } from '../../support/until.ts'

const network = 'solana' as NetworkName
/** One percent of each transfer is withheld. */
const extensions = [transferFee(100, 5000n)]

let folder: string
let node: SandboxSolanaNode
let wallet: SolanaWallet
let mint: KeyPairSigner
let asset: AssetKey

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-solana-'))
  node = await startSolana({ folder, slotMs: 50, log: pino({ level: 'silent' }) })
  wallet = await openWallet(node.url)
  mint = await generateKeyPairSigner()
  asset = assetKey(network, mint.address as string as Address)
  const space = mintBytes(extensions)
  const rent = await createSolanaRpc(node.url).getMinimumBalanceForRentExemption(space).send()
  const made = { payer: wallet.signer, newAccount: mint, lamports: rent, space }
  await wallet.send([
    getCreateAccountInstruction({ ...made, programAddress: token2022Program }),
    ...makeMint(mint, wallet.signer.address, extensions),
  ])
})
afterAll(async () => {
  await node.stop()
  await rm(folder, { recursive: true })
})

/** The owner's associated account, and the instruction that makes it. */
async function associated(owner: KeyPairSigner) {
  const seeds = { owner: owner.address, mint: mint.address, tokenProgram: token2022Program }
  const [ata] = await findAssociatedTokenPda(seeds)
  return { ata, make: getCreateAssociatedTokenIdempotentInstruction({ payer: wallet.signer, ata, ...seeds }) }
}

function memo(text: string): Instruction {
  const programAddress = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as typeof token2022Program
  return { programAddress, data: new TextEncoder().encode(text) }
}

test('of a token with a transfer fee, what arrived is told with what was sent and what was written to it', async () => {
  const owner = await generateKeyPairSigner()
  const authority = wallet.signer
  const [from, to] = [await associated(wallet.signer), await associated(owner)]
  await wallet.send([
    from.make,
    to.make,
    getMintToInstruction(
      { mint: mint.address, token: from.ata, mintAuthority: authority, amount: 500_000n },
      { programAddress: token2022Program },
    ),
  ])
  const last = await wallet.send([
    getTransferCheckedInstruction(
      { source: from.ata, mint: mint.address, destination: to.ata, authority, amount: 100_000n, decimals: 6 },
      { programAddress: token2022Program },
    ),
    memo('invoice 9'),
  ])
  await until('finality', () => wallet.isFinal(last))
  const settings = {
    name: network,
    family: 'solana',
    chainId: null,
    rpcUrls: [node.url],
    assets: [{ key: asset, network, symbol: 'FEE', decimals: 6 }],
  } as const
  const address = owner.address as string as Address
  for (const solanaStrategy of ['by_owner', 'by_block'] as const) {
    const reader = createSolanaReader(settings, { solanaStrategy })
    const { at, balances } = await reader.readBalances({ pairs: [{ address, asset }], at: null })
    const range = { from: at.height - 60n, to: at.height, watched: new Set([address]) }
    const { transfers } = await reader.readRange(range)
    expect(balances).toEqual([99_000n])
    expect(transfers).toMatchObject([
      { tx: last, from: authority.address, amount: 99_000n, sent: 100_000n, memo: 'invoice 9' },
    ])
  }
})
