import { createHash } from 'node:crypto'
import { type Hex, keccak256, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Address, type AssetKey, parseAddress, toTxId } from '../../src/core/asset.ts'
import type { Amount } from '../../src/core/money.ts'
import { openEvmClient } from '../../src/sandbox/evm-faucet.ts'
import type { SandboxNetwork } from '../../src/sandbox/local-networks.ts'
import { type DepositKnob, faultKnobs, faultTable } from '../../src/service/faults/fault-table.ts'
import type { Faults } from '../../src/service/faults/faults.ts'

/** To whom, and by which knob it is to be struck; by none where that is null. */
export type Wish = { knob: DepositKnob | null; owner: string; to: Address }

/** A payment of ether that is signed and not sent yet. */
export type StruckPayment = Wish & { tx: string; bytes: Hex }

export const depositKnobs = faultKnobs.filter(
  (knob): knob is DepositKnob => faultTable[knob].scope === 'deposits',
)

/** Those that strike what is forwarded, and so nothing of a StableWallet. */
export const forwardKnobs = depositKnobs.filter(
  (knob) => knob.includes('Forward') || knob === 'regressStatusRate' || knob === 'reopenRate',
)

/**
 * Until a person agrees to what is proposed, a payment without a key is two deposits, and so is one that is claimed
 * again; what is opened again or fails is never at rest. A split forward has no fact that says so. There is no second
 * network of a family to name, and no policy that knows the fee.
 */
const neverAtRest: readonly DepositKnob[] = [
  'dropTransactionRate',
  'claimAgainRate',
  'reopenRate',
  'withholdRefundRate',
  'splitForwardRate',
  'joinForwardRate',
  'renameNetworkRate',
  'overchargeRate',
]

/** Of every error after which the books come to rest. */
export function ratesAtRest(rate: number): Partial<Record<DepositKnob, number>> {
  return Object.fromEntries(depositKnobs.map((knob) => [knob, neverAtRest.includes(knob) ? 0 : rate]))
}

/** At this rate most payments are struck by one knob or by none. */
export const strikingRate = 1 / depositKnobs.length

const account = privateKeyToAccount(`0x${createHash('sha256').update('payer of the faults').digest('hex')}`)
const fees = { maxFeePerGas: 50_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
const triesMax = 5000

/**
 * Which deposits a knob strikes follows from their transaction, so each payment is signed with one more wei until the
 * knobs, all of them turned on, strike it as wished and nothing else does. No two pay as much.
 */
export async function signStruckPayments(
  network: SandboxNetwork,
  faults: Faults,
  wishes: readonly Wish[],
): Promise<StruckPayment[]> {
  const payments: StruckPayment[] = []
  for (const [nonce, wish] of wishes.entries()) {
    const start = parseEther('0.01') + parseEther('0.001') * BigInt(nonce)
    payments.push(await signStruck({ network, faults, wish }, nonce, start))
  }
  return payments
}

type Signing = { network: SandboxNetwork; faults: Faults; wish: Wish }

async function signStruck(
  { network, faults, wish }: Signing,
  nonce: number,
  start: bigint,
): Promise<StruckPayment> {
  const { name, chainId } = network
  const to = wish.to as unknown as Hex
  for (let tries = 0n; tries < triesMax; tries++) {
    const transaction = { chainId: chainId ?? 0, nonce, to, value: start + tries, gas: 21_000n, ...fees }
    const bytes = await account.signTransaction({ ...transaction, type: 'eip1559' })
    const tx = toTxId(keccak256(bytes))
    const struck = depositKnobs.filter((knob) =>
      faults.strikes(knob, { network: name, transaction: tx, index: 'native' }),
    )
    if (struck.length === (wish.knob === null ? 0 : 1) && (struck[0] ?? null) === wish.knob)
      return { ...wish, tx, bytes }
  }
  throw new Error(`no payment is struck by ${wish.knob ?? 'nothing'} alone`)
}

/** Sends them in the order in which they were signed. */
export async function sendStruckPayments(
  network: SandboxNetwork,
  payments: readonly StruckPayment[],
): Promise<void> {
  const client = openEvmClient(network.rpcUrls[0] ?? '', network.chainId ?? 0)
  const payer = parseAddress('evm', account.address)
  await network.fund(payer, `${network.name}/native` as AssetKey, parseEther('10') as Amount)
  for (const { bytes } of payments) await client.sendRawTransaction({ serializedTransaction: bytes })
}
