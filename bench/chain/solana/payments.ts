import { address, getAddressDecoder, getBase58Decoder } from '@solana/kit'
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'

export type PaymentsSettings = {
  seed: number
  transfers: number
  owners: number
  perSlot: number
  failedOf: number
}

/** One transaction of the chain: a payment to one owner, of as many units as its number tells. */
export type Payment = { number: number; slot: number; owner: number; failed: boolean }

/** A chain of payments that follows from a seed, so that the node and the judge of what was read make the same. */
export type Payments = {
  mint: string
  payer: { owner: string; account: string }
  owners: readonly string[]
  /** The associated token account of each owner. */
  accounts: readonly string[]
  payments: readonly Payment[]
  firstSlot: number
  lastSlot: number
  signatureOf: (number: number) => string
}

const firstSlot = 1000

export async function paymentsOf(settings: PaymentsSettings): Promise<Payments> {
  const { seed, transfers, owners: count, perSlot, failedOf } = settings
  const random = numbersFrom(seed)
  const [mint, payer, payerAccount] = [addressOf(1, 0), addressOf(2, 0), addressOf(3, 0)]
  const owners = Array.from({ length: count }, (_, place) => addressOf(4, place))
  const accounts = await Promise.all(
    owners.map(async (owner) => {
      const seeds = { owner: address(owner), mint: address(mint), tokenProgram: TOKEN_PROGRAM_ADDRESS }
      const [account] = await findAssociatedTokenPda(seeds)
      return account
    }),
  )
  const payments = Array.from({ length: transfers }, (_, number) => ({
    number,
    slot: firstSlot + Math.floor(number / perSlot),
    owner: Math.floor(random() * count),
    failed: Math.floor(random() * failedOf) === 0,
  }))
  const lastSlot = (payments.at(-1)?.slot ?? firstSlot) + 10
  return {
    mint,
    payer: { owner: payer, account: payerAccount },
    owners,
    accounts,
    payments,
    firstSlot,
    lastSlot,
    signatureOf,
  }
}

function addressOf(kind: number, number: number): string {
  return getAddressDecoder().decode(numbered(32, kind, number))
}

function signatureOf(number: number): string {
  return getBase58Decoder().decode(numbered(64, 9, number))
}

function numbered(bytes: number, kind: number, number: number): Uint8Array {
  const data = new Uint8Array(bytes).fill(kind)
  new DataView(data.buffer).setUint32(0, number + 1)
  return data
}

/** Numbers from 0 to 1, the same for a seed (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
