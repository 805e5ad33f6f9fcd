import { address, getAddressDecoder, getAddressEncoder, getBase58Decoder } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { Address } from '../../src/core/asset.ts'

/** What one transaction did to one account: lamports, and tokens where it is a token account. */
export type Effect = {
  account: Address
  lamports?: readonly [before: bigint, after: bigint]
  token?: { mint: Address; owner: Address; before: bigint; after: bigint }
}

export type Options = {
  failed?: boolean
  pending?: boolean
  /** Part of what the first account's lamports lack afterwards. */
  fee?: bigint
  /** Into the block of the one before. */
  together?: boolean
  /** What is written to it by the memo program. */
  memo?: string
}
type Transaction = {
  signature: string
  slot: bigint
  effects: readonly Effect[]
  failed: boolean
  fee: bigint
  memo: string | undefined
}

const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address
const systemProgram = '11111111111111111111111111111111'

let made = 0

/** A new address, the same in each run. */
export function newAddress(): Address {
  const bytes = new Uint8Array(32).fill(7)
  new DataView(bytes.buffer).setUint32(0, ++made)
  return getAddressDecoder().decode(bytes) as string as Address
}

/** What a scripted Solana node knows. A test writes it. */
export class SolanaLedger {
  slot = 1000n
  flips = false
  private pages = 0
  readonly skipped = new Set<bigint>()
  readonly accounts = new Map<string, { mint: Address; owner: Address }>()
  private readonly mints = new Map<string, number>()
  private readonly history: Transaction[] = []
  /** What was last done to each account. */
  private readonly state = new Map<string, Effect>()

  addMint(decimals: number): Address {
    const mint = newAddress()
    this.mints.set(mint, decimals)
    return mint
  }

  transact(
    effects: readonly Effect[],
    { failed = false, pending = false, together = false, fee = 0n, memo }: Options,
  ): string {
    const bytes = new Uint8Array(64).fill(9)
    new DataView(bytes.buffer).setUint32(0, ++made)
    const signature = getBase58Decoder().decode(bytes)
    const slot = this.slot + (together ? 0n : 1n)
    if (!pending) this.slot = slot
    const written: Effect[] = memo === undefined ? [] : [{ account: memoProgram }]
    this.history.unshift({ signature, slot, effects: [...effects, ...written], failed, fee, memo })
    if (!failed) for (const effect of effects) this.state.set(effect.account, effect)
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
      getTransaction: () => this.transaction(String(first), second as { commitment?: string }),
      getMultipleAccounts: () =>
        this.withContext((first as string[]).map((account) => this.accountOf(account))),
      getBlock: () => this.block(BigInt(String(first)), second as { transactionDetails: string }),
      getBlocksWithLimit: () => this.blocks(BigInt(String(first)), Number(second)),
      getBlocks: () => {
        const last = BigInt(String(second))
        return this.blocks(BigInt(String(first)), Number(last) + 1).filter((slot) => slot <= last)
      },
      getSlot: () => this.slot,
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
    const listed = this.history.filter(({ effects }) => effects.some((effect) => effect.account === account))
    const isFlipped = this.flips && this.pages++ % 2 === 1
    const touching = isFlipped
      ? listed.toReversed().toSorted((left, right) => Number(right.slot - left.slot))
      : listed
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
      ...(transactionDetails === 'full' ? { transactions: within.map((one) => this.inFull(one)) } : {}),
    }
  }

  private inBlock({ signature, effects, ...rest }: Transaction): object {
    const accountKeys = effects.map(({ account }) => ({ pubkey: account, source: 'transaction' }))
    const { loadedAddresses: _, ...meta } = this.metaOf({ effects, ...rest })
    return { version: 0n, meta, transaction: { accountKeys, signatures: [signature] } }
  }

  private accountOf(account: string): object | null {
    const effect = this.state.get(account)
    if (effect === undefined) return null
    const { lamports, token } = effect
    const data = Buffer.alloc(72)
    if (token !== undefined) {
      data.set(getAddressEncoder().encode(address(token.mint)), 0)
      data.set(getAddressEncoder().encode(address(token.owner)), 32)
      data.writeBigUInt64LE(token.after, 64)
    }
    const program = token === undefined ? systemProgram : TOKEN_PROGRAM_ADDRESS
    return { owner: program, data: [data.toString('base64'), 'base64'], lamports: lamports?.[1] ?? 1n }
  }

  private transaction(wanted: string, { commitment }: { commitment?: string }): object | null {
    const found = this.history.find(({ signature }) => signature === wanted)
    if (found === undefined || (commitment !== 'confirmed' && found.slot > this.slot)) return null
    return { slot: found.slot, blockTime: 1_700_000_000n, ...this.inFull(found) }
  }

  private inFull(transaction: Transaction): object {
    const { signature, effects, memo } = transaction
    const accountKeys = effects.map(({ account }) => account)
    const data = getBase58Decoder().decode(Buffer.from(memo ?? ''))
    const written = { programIdIndex: accountKeys.indexOf(memoProgram), accounts: [], data }
    const instructions = memo === undefined ? [] : [written]
    const message = { accountKeys, instructions }
    return {
      version: 0n,
      meta: this.metaOf(transaction),
      transaction: { message, signatures: [signature] },
    }
  }

  private metaOf({ effects, failed, fee }: Pick<Transaction, 'effects' | 'failed' | 'fee'>) {
    const tokens = (which: 'before' | 'after') =>
      effects.flatMap(({ token }, accountIndex) =>
        token === undefined
          ? []
          : [{ accountIndex, ...token, uiTokenAmount: { amount: token[which].toString(), decimals: 6 } }],
      )
    return {
      err: failed ? { InstructionError: [0n, 'Custom'] } : null,
      fee,
      preBalances: effects.map(({ lamports }) => lamports?.[0] ?? 1n),
      postBalances: effects.map(({ lamports }) => lamports?.[1] ?? 1n),
      preTokenBalances: tokens('before'),
      postTokenBalances: tokens('after'),
      loadedAddresses: { writable: [], readonly: [] },
    }
  }
}
