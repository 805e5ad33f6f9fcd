import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { getAddressDecoder, getBase58Decoder } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { Address } from '../../src/core/asset.ts'

/** What one transaction did to one account: lamports, and tokens where it is a token account. */
export type Effect = {
  account: Address
  lamports?: readonly [before: bigint, after: bigint]
  token?: { mint: Address; owner: Address; before: bigint; after: bigint }
}

type Transaction = { signature: string; slot: bigint; effects: readonly Effect[]; failed: boolean }
type Call = { method: string; params: readonly unknown[] }

export type Lie = (call: Call) => { result?: unknown; error?: { code: number; message: string } } | undefined

/** Leaves every answer as it is. */
export const honest: Lie = () => undefined

/** A Solana JSON-RPC server whose ledger a test writes, and which can lie. */
export type SolanaTestNode = {
  url: string
  calls: Call[]
  slot: bigint
  /** Slots without a block. */
  skipped: Set<bigint>
  addMint(decimals: number): Address
  /** Says that the owner has this token account now. */
  addAccount(account: Address, mint: Address, owner: Address): void
  closeAccount(account: Address): void
  /** A transaction in a slot of its own; its signature. */
  transact(effects: readonly Effect[], options?: { failed?: boolean }): string
  /** Answers these methods otherwise; undefined leaves the answer as it is. */
  lie(
    script: (call: Call) => { result?: unknown; error?: { code: number; message: string } } | undefined,
  ): void
  stop(): Promise<void>
}

let made = 0

/** A new address, the same in each run. */
export function newAddress(): Address {
  const bytes = new Uint8Array(32).fill(7)
  new DataView(bytes.buffer).setUint32(0, ++made)
  return getAddressDecoder().decode(bytes) as string as Address
}

export async function startSolanaNode(): Promise<SolanaTestNode> {
  const ledger = new Ledger()
  const calls: Call[] = []
  let lie: Lie = honest
  const server = createServer((request, response) => {
    const answer = async () => {
      const { id, method, params } = JSON.parse(await text(request)) as Call & { id: number }
      calls.push({ method, params })
      const body = lie({ method, params }) ?? ledger.answer(method, params)
      response.end(toJson({ jsonrpc: '2.0', id, ...body }))
    }
    answer().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    skipped: ledger.skipped,
    get slot() {
      return ledger.slot
    },
    set slot(slot) {
      ledger.slot = slot
    },
    addMint: (decimals) => ledger.addMint(decimals),
    addAccount: (account, mint, owner) => void ledger.accounts.set(account, { mint, owner }),
    closeAccount: (account) => void ledger.accounts.delete(account),
    transact: (effects, options) => ledger.transact(effects, options?.failed ?? false),
    lie: (script) => {
      lie = script
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

class Ledger {
  slot = 1000n
  readonly skipped = new Set<bigint>()
  readonly accounts = new Map<string, { mint: Address; owner: Address }>()
  private readonly mints = new Map<string, number>()
  private readonly history: Transaction[] = []

  addMint(decimals: number): Address {
    const mint = newAddress()
    this.mints.set(mint, decimals)
    return mint
  }

  transact(effects: readonly Effect[], failed: boolean): string {
    const bytes = new Uint8Array(64).fill(9)
    new DataView(bytes.buffer).setUint32(0, ++made)
    const signature = getBase58Decoder().decode(bytes)
    this.history.unshift({ signature, slot: ++this.slot, effects, failed })
    return signature
  }

  answer(method: string, params: readonly unknown[]): object {
    const [first, second] = params
    const answers: Record<string, () => unknown> = {
      getLatestBlockhash: () =>
        this.withContext({ blockhash: `hash${this.slot}`, lastValidBlockHeight: this.slot }),
      getGenesisHash: () => 'genesis',
      getFirstAvailableBlock: () => 0n,
      getAccountInfo: () => this.withContext(this.mintAccount(String(first))),
      getTokenAccountsByOwner: () => this.withContext(this.owned(String(first), second as { mint: string })),
      getSignaturesForAddress: () => this.page(String(first), second as { before?: string; limit: number }),
      getTransaction: () => this.transaction(String(first)),
      getBlock: () => this.block(BigInt(String(first)), second as { transactionDetails: string }),
      getBlocksWithLimit: () => this.blocks(BigInt(String(first)), Number(second)),
    }
    const known = answers[method]
    return known === undefined
      ? { error: { code: -32601, message: 'Method not found' } }
      : { result: known() }
  }

  private withContext(value: unknown): object {
    return { context: { slot: this.slot }, value }
  }

  private mintAccount(mint: string): object | null {
    const decimals = this.mints.get(mint)
    if (decimals === undefined) return null
    const data = Buffer.alloc(82)
    data[44] = decimals
    return { owner: TOKEN_PROGRAM_ADDRESS, data: [data.toString('base64'), 'base64'], lamports: 1n }
  }

  private owned(owner: string, { mint }: { mint: string }): object[] {
    return [...this.accounts]
      .filter(([, account]) => account.owner === owner && account.mint === mint)
      .map(([pubkey]) => ({ pubkey, account: { data: ['', 'base64'], lamports: 1n } }))
  }

  private page(account: string, { before, limit }: { before?: string; limit: number }): object[] {
    const touching = this.history.filter(({ effects }) =>
      effects.some((effect) => effect.account === account),
    )
    const start = before === undefined ? 0 : touching.findIndex(({ signature }) => signature === before) + 1
    return touching.slice(start, start + limit).map(({ signature, slot, failed }) => ({
      signature,
      slot,
      err: failed ? { InstructionError: [0n, 'Custom'] } : null,
      memo: null,
      blockTime: 1_700_000_000n,
    }))
  }

  private blocks(from: bigint, limit: number): bigint[] {
    const slots: bigint[] = []
    for (let slot = from; slot <= this.slot && slots.length < limit; slot++) {
      if (!this.skipped.has(slot)) slots.push(slot)
    }
    return slots
  }

  private parentOf(slot: bigint): bigint {
    let parent = slot - 1n
    while (this.skipped.has(parent)) parent -= 1n
    return parent
  }

  private block(slot: bigint, { transactionDetails }: { transactionDetails: string }): object {
    const within = this.history.filter((transaction) => transaction.slot === slot)
    const parentSlot = this.parentOf(slot)
    return {
      blockhash: `hash${slot}`,
      // A second per slot.
      blockTime: 1_700_000_000n + slot - 1001n,
      parentSlot,
      previousBlockhash: `hash${parentSlot}`,
      ...(transactionDetails === 'accounts' ? { transactions: within.map((one) => this.inBlock(one)) } : {}),
    }
  }

  private inBlock({ signature, effects, ...rest }: Transaction): object {
    const accountKeys = effects.map(({ account }) => ({ pubkey: account, source: 'transaction' }))
    const { loadedAddresses: _, ...meta } = this.metaOf({ effects, ...rest })
    return { version: 0n, meta, transaction: { accountKeys, signatures: [signature] } }
  }

  private transaction(wanted: string): object | null {
    const found = this.history.find(({ signature }) => signature === wanted)
    if (found === undefined) return null
    return {
      slot: found.slot,
      blockTime: 1_700_000_000n,
      version: 0n,
      meta: this.metaOf(found),
      transaction: {
        message: { accountKeys: found.effects.map(({ account }) => account) },
        signatures: [wanted],
      },
    }
  }

  private metaOf({ effects, failed }: Pick<Transaction, 'effects' | 'failed'>) {
    const tokens = (which: 'before' | 'after') =>
      effects.flatMap(({ token }, accountIndex) =>
        token === undefined
          ? []
          : [{ accountIndex, ...token, uiTokenAmount: { amount: token[which].toString(), decimals: 6 } }],
      )
    return {
      err: failed ? { InstructionError: [0n, 'Custom'] } : null,
      fee: 0n,
      preBalances: effects.map(({ lamports }) => lamports?.[0] ?? 1n),
      postBalances: effects.map(({ lamports }) => lamports?.[1] ?? 1n),
      preTokenBalances: tokens('before'),
      postTokenBalances: tokens('after'),
      loadedAddresses: { writable: [], readonly: [] },
    }
  }
}

type RawJson = { rawJSON(text: string): unknown }

function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? rawNumber(part) : part))
}

function rawNumber(integer: bigint): unknown {
  return (JSON as unknown as RawJson).rawJSON(integer.toString())
}
