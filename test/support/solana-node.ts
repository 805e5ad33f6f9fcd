import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Address } from '../../src/core/asset.ts'
import { type Effect, type Options, SolanaLedger } from './solana-ledger.ts'

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
  /** A transaction in a slot of its own, which is final unless it is pending; its signature. */
  transact(effects: readonly Effect[], options?: Options): string
  /** Answers these methods otherwise; undefined leaves the answer as it is. */
  lie(
    script: (call: Call) => { result?: unknown; error?: { code: number; message: string } } | undefined,
  ): void
  /** What it would answer without a lie. */
  honestly(call: Call): object
  /** From now on the order of signatures within a slot is another in every second answer. */
  flipSlots(): void
  stop(): Promise<void>
}

export async function startSolanaNode(): Promise<SolanaTestNode> {
  const ledger = new SolanaLedger()
  const calls: Call[] = []
  let lie: Lie = honest
  const answerTo = ({ id, method, params }: Numbered): object => {
    calls.push({ method, params })
    return { jsonrpc: '2.0', id, ...(lie({ method, params }) ?? ledger.answer(method, params)) }
  }
  const server = createServer((request, response) => {
    const answer = async () => {
      const asked = JSON.parse(await text(request)) as Numbered | readonly Numbered[]
      response.end(toJson(isSeveral(asked) ? asked.map(answerTo) : answerTo(asked)))
    }
    answer().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    skipped: ledger.skipped,
    honestly: ({ method, params }) => ledger.answer(method, params),
    flipSlots: () => {
      ledger.flips = true
    },
    get slot() {
      return ledger.slot
    },
    set slot(slot) {
      ledger.slot = slot
    },
    addMint: (decimals) => ledger.addMint(decimals),
    addAccount: (account, mint, owner) => void ledger.accounts.set(account, { mint, owner }),
    closeAccount: (account) => void ledger.accounts.delete(account),
    transact: (effects, options = {}) => ledger.transact(effects, options),
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

type Numbered = Call & { id: number }

function isSeveral(asked: Numbered | readonly Numbered[]): asked is readonly Numbered[] {
  return Array.isArray(asked)
}

type RawJson = { rawJSON(text: string): unknown }

function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? rawNumber(part) : part))
}

function rawNumber(integer: bigint): unknown {
  return (JSON as unknown as RawJson).rawJSON(integer.toString())
}
