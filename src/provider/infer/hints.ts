import { type AssetCode, assetCode, type NetworkSettings } from '../../core/asset.ts'

export type Hints = {
  networks: readonly NetworkSettings[]
  /** In canonical spelling. */
  depositAddresses: ReadonlySet<string>
  recipients: ReadonlySet<string>
  owners: ReadonlyMap<string, 'channel' | 'stable_wallet'>
  /** Id of the owner, by deposit address. */
  addressOwners?: ReadonlyMap<string, string>
}

/** Only EVM addresses have more than one spelling. */
export function comparable(text: string): string {
  return text.startsWith('0x') || text.startsWith('0X') ? text.toLowerCase() : text
}

export function networksOfContract(hints: Hints, text: string): NetworkSettings[] {
  const code = comparable(text) as AssetCode
  return hints.networks.filter(({ assets }) => assets.some(({ key }) => assetCode(key) === code))
}

export function isSymbol(hints: Hints, text: string): boolean {
  return hints.networks.some(({ assets }) => assets.some(({ symbol }) => symbol === text))
}

const namesOf: Readonly<Record<string, RegExp>> = {
  mainnet: /^(?:eth|ethereum|mainnet|1|0x1|eip155:1|(?:eth|ethereum)[-_ ]?mainnet)$/i,
  base: /^(?:base|base[-_ ]?mainnet|8453|0x2105|eip155:8453)$/i,
  arbitrum: /^(?:arb|arb1|arbitrum|arbitrum[-_ ]?(?:one|mainnet)|42161|0xa4b1|eip155:42161)$/i,
  solana: /^(?:sol|solana|(?:sol|solana)[-_ ]?mainnet(?:-beta)?|mainnet-beta|solana:\w+)$/i,
}

/** Null if unknown. */
export function networkOfWord(hints: Hints, text: string): string | null {
  const named = hints.networks.find(
    ({ name, chainId }) => name === text.toLowerCase() || (chainId !== null && chainId.toString() === text),
  )
  if (named !== undefined) return named.name
  return hints.networks.find(({ name }) => namesOf[name]?.test(text))?.name ?? null
}

/** The first row that matches a part of the word counts. */
const states = [
  ['refunded', /refunded|returned|reversed|reimbursed/],
  ['failed', /fail|reject|error|expired|cancel|declin|abort|dropped|invalid/],
  ['held', /held|hold|review|frozen|block|suspend|refund|manual|aml|compliance|quarantin|stuck/],
  [
    'settling',
    /convert|forward|process|swap|sweep|settling|paying|exchang|transferring|executing|sending|broadcast/,
  ],
  ['settled', /settled|complete|credited|paid|done|success|deliver|finished|closed|sent|released/],
  ['observed', /unconfirmed|detect|seen|pending|receiv|incoming|new|initiated|created|observed|open|mempool/],
  ['confirmed', /confirmed|final|verified|secured|mature|cleared|accepted|approved/],
] as const

export type StatusMeaning = (typeof states)[number][0]

/** Null if no part is known. */
export function statusOfWord(word: string): StatusMeaning | null {
  const text = word.toLowerCase()
  return states.find(([, pattern]) => pattern.test(text))?.[0] ?? null
}

/** Null if unknown. */
export function ownerOfWord(word: string): 'channel' | 'stable_wallet' | null {
  const text = word.toLowerCase()
  if (/wallet|stable|vault|custod/.test(text)) return 'stable_wallet'
  return /channel|forward|route/.test(text) ? 'channel' : null
}
