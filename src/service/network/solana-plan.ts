import { type Instruction, type KeyPairSigner, address as toSolanaAddress } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { NetworkSettings } from '../../chain/port.ts'
import { type Address, assetCode, assetKey, parseAddress } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import type { RequestCoalescer } from '../running/sharing.ts'
import type { TransferOrder } from './port.ts'
import type { SolanaNetworkRpc } from './solana.ts'
import { lamportsOf, sumOf, tokenAccountsOf } from './solana-holdings.ts'
import { readMint, token2022Program } from './solana-mints.ts'
import type { HolderAsset, ReservedFunds, Take } from './solana-promises.ts'
import { accountMaker, gather, moves, noFee, partsMax, usualAccount } from './solana-token-transfer.ts'

/** The liquidity wallet pays the fee and the rent, whoever's assets are moved. */
export type Signers = { feePayer: KeyPairSigner; holder: KeyPairSigner }

export type SolanaPlanContext = {
  rpc: SolanaNetworkRpc
  settings: NetworkSettings
  share: RequestCoalescer
  spoken: ReservedFunds
} & Signers

/** How an order is carried out. */
export type Plan = {
  /** What has to be there before the assets move. */
  before: readonly Instruction[]
  moves: readonly Instruction[]
  arrives: bigint
  /** What it takes from whom, and what they hold without what is spoken for. */
  takes: readonly (Take & { held: bigint })[]
}

const lamportsPerSignature = 5000n
/** No account that is made for a token is longer, whatever the mint adds to it. */
const tokenAccountBytesMax = 256n

export function purseOf(signer: KeyPairSigner, asset: HolderAsset['asset']): HolderAsset {
  return { holder: parseAddress('solana', signer.address), asset }
}

export function lamportsKey({ name }: NetworkSettings): HolderAsset['asset'] {
  return assetKey(name, 'native')
}

export async function planLamports(planning: SolanaPlanContext, order: TransferOrder): Promise<Plan> {
  const { rpc, settings, spoken, holder } = planning
  const from = purseOf(holder, lamportsKey(settings))
  const [held, there, rent, fee] = await Promise.all([
    lamportsOf(rpc, { ...from, slot: spoken.slot }),
    readPayee(planning, order.to),
    readRent(planning, 0n),
    feeOf(planning, 0n),
  ])
  if (there + order.amount < rent) {
    const problem = `${order.to} does not exist, and ${order.amount} lamports are less than the ${rent} that make an account`
    throw refused(settings, problem)
  }
  const destination = toSolanaAddress(order.to)
  return {
    before: [],
    moves: [getTransferSolInstruction({ source: holder, destination, amount: order.amount })],
    arrives: order.amount,
    takes: [{ ...from, amount: order.amount, held }, fee],
  }
}

export async function planTokens(planning: SolanaPlanContext, order: TransferOrder): Promise<Plan> {
  const { rpc, settings, share, spoken, holder } = planning
  const code = assetCode(order.asset) as Address
  const mint = await share(`mint ${code}`, () => readMint(rpc, code))
  if (mint === null) throw refused(settings, `${code} is no mint`)
  const from = purseOf(holder, order.asset)
  const ends = { ...planning, mint: code, to: order.to }
  const destination = await usualAccount(ends, mint)
  const [accounts, existing, epoch] = await Promise.all([
    tokenAccountsOf(rpc, code, { ...from, slot: spoken.slot }),
    rpc.getAccountInfo(destination, { encoding: 'base64', commitment: 'confirmed' }).send(),
    mint.feeIn === null ? { epoch: 0n } : share('epoch', () => rpc.getEpochInfo().send()),
    readPayee(planning, order.to),
  ])
  const [held, fee] = [sumOf(accounts), mint.feeIn?.(epoch.epoch) ?? noFee]
  const parts = gather(accounts, order, fee)
  if (parts === null) {
    if (held >= order.amount && accounts.length > partsMax) {
      const problem = `${from.holder} holds its ${order.asset} in ${accounts.length} accounts, and one transfer takes from ${partsMax}`
      throw refused(settings, problem)
    }
    throw shortOf(settings, { ...from, amount: order.amount, free: held })
  }
  const sent = parts.reduce((sum, part) => sum + part.sent, 0n)
  return {
    before: [accountMaker(ends, mint, destination)],
    moves: moves(ends, mint, { destination, parts }),
    arrives: parts.reduce((sum, part) => sum + part.sent - part.fee, 0n),
    takes: [
      { ...from, amount: sent, held },
      await feeOf(planning, existing.value === null ? tokenAccountBytesMax : 0n),
    ],
  }
}

/**
 * The lamports of who is paid. Whoever names a token account as the owner of another one, or a program, cannot move
 * what arrives.
 */
async function readPayee({ rpc, settings }: SolanaPlanContext, to: Address): Promise<bigint> {
  const config = { encoding: 'base64', commitment: 'confirmed' } as const
  const { value } = await rpc.getAccountInfo(toSolanaAddress(to), config).send()
  if (value === null) return 0n
  if (value.executable) throw refused(settings, `${to} is a program`)
  if (value.owner === TOKEN_PROGRAM_ADDRESS || value.owner === token2022Program)
    throw refused(settings, `${to} is an account of a token program, and no wallet`)
  return value.lamports
}

/** Zero bytes: no account is made. */
async function feeOf(planning: SolanaPlanContext, bytes: bigint): Promise<Take & { held: bigint }> {
  const { rpc, settings, share, spoken, feePayer, holder } = planning
  const purse = purseOf(feePayer, lamportsKey(settings))
  const { slot } = spoken
  const [held, rent] = await Promise.all([
    // Whoever asks for a balance of that slot or later may have the answer to the same question.
    share(`fee payer at ${slot}`, () => lamportsOf(rpc, { ...purse, slot })),
    bytes === 0n ? 0n : readRent(planning, bytes),
  ])
  const signatures = feePayer.address === holder.address ? 1n : 2n
  return { ...purse, amount: lamportsPerSignature * signatures + rent, held }
}

/** What an account of that size must hold. */
export function readRent(
  { rpc, share }: Pick<SolanaPlanContext, 'rpc' | 'share'>,
  bytes: bigint,
): Promise<bigint> {
  return share(`rent of ${bytes}`, () => rpc.getMinimumBalanceForRentExemption(bytes).send())
}

export function refused({ name }: NetworkSettings, problem: string): Fault {
  return new Fault('remote_failed', { what: `paying on ${name}`, problem })
}

export function shortOf(
  settings: NetworkSettings,
  { holder, asset, amount, free }: Take & { free: bigint },
): Fault {
  return refused(settings, `${holder} has ${free} of ${asset} left to spend, and ${amount} are needed`)
}
