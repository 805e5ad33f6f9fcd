import { createHash } from 'node:crypto'
import { type Blockhash, getBase58Decoder } from '@solana/kit'

export type Commitment = 'processed' | 'confirmed' | 'finalized'

export type SlotSettings = {
  /** Start of slot 0, in milliseconds since 1970. */
  genesisMs: number
  slotMs: number
  /** Slots that `confirmed` and `finalized` are behind the newest. */
  confirmedLag: number
  finalizedLag: number
}

export type Slots = {
  at(commitment: Commitment): number
  /** Unix seconds. */
  timeOf(slot: number): number
  blockhashOf(slot: number): Blockhash
  /** Null if the blockhash is unknown or expired. */
  usableSlotOf(blockhash: string): number | null
  commitmentOf(slot: number): Commitment
  /** Keeps the newest slot at or above this one, even if the clock is behind. */
  notBefore(slot: number): void
}

/** As on the real network. */
export const blockhashLifetimeSlots = 150

/** Hashes are computed from the number, so no slot is stored. If the clock is set back, no slot comes twice. */
export function createSlots(settings: SlotSettings, now: () => number = Date.now): Slots {
  const { genesisMs, slotMs } = settings
  let newest = 0
  let indexedTo = -1
  const recent = new Map<string, number>()
  const blockhashOf = (slot: number): Blockhash => blockhash(`${genesisMs}/${slot}`)
  const advance = (): number => {
    newest = Math.max(newest, Math.floor((now() - genesisMs) / slotMs))
    for (let slot = Math.max(indexedTo + 1, newest - blockhashLifetimeSlots); slot <= newest; slot++) {
      recent.set(blockhashOf(slot), slot)
    }
    indexedTo = newest
    for (const [hash, slot] of recent) {
      if (slot >= newest - blockhashLifetimeSlots) break
      recent.delete(hash)
    }
    return newest
  }
  const lags = { processed: 0, confirmed: settings.confirmedLag, finalized: settings.finalizedLag }
  const at = (commitment: Commitment): number => Math.max(0, advance() - lags[commitment])
  return {
    at,
    timeOf: (slot) => Math.floor((genesisMs + slot * slotMs) / 1000),
    blockhashOf,
    usableSlotOf(hash) {
      advance()
      return recent.get(hash) ?? null
    },
    notBefore(slot) {
      newest = Math.max(newest, slot)
    },
    commitmentOf(slot) {
      if (slot <= at('finalized')) return 'finalized'
      return slot <= at('confirmed') ? 'confirmed' : 'processed'
    },
  }
}

function blockhash(text: string): Blockhash {
  return getBase58Decoder().decode(createHash('sha256').update(text).digest()) as Blockhash
}
