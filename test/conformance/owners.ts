import { freshId, freshRecipient } from './identities.ts'
import { must, shown } from './outcome.ts'
import { type Answer, call, mustSucceed, type Subject } from './subject.ts'

export type DepositAddress = { network: string; address: string }
export type Channel = { id: string; network: string; recipient: string; addresses: DepositAddress[] }
export type Wallet = { id: string; addresses: DepositAddress[] }

type Fields = Record<string, unknown>

/** The two documented spellings of the asset and of the destination address. */
export const spellings = {
  asset: ['forward_asset', 'forward_recipient'],
  token: ['forward_token', 'forward_address'],
} as const

export type Spelling = keyof typeof spellings

export type Rule = { id: string; network: string; recipient: string; spelling: Spelling }

/** A rule that nobody has asked for before: USDC to a fresh address. */
export function freshRule(network = 'base', spelling: Spelling = 'asset'): Rule {
  return { id: freshId(), network, recipient: freshRecipient(network), spelling }
}

export function requestOf({ id, network, recipient, spelling }: Rule): Fields {
  const [asset, destination] = spellings[spelling]
  return { id, forward_network: network, [asset]: 'USDC', [destination]: recipient }
}

/** Asks for a channel and returns what was answered, which must be an object. */
export async function createChannel(subject: Subject, rule: Rule): Promise<Fields> {
  const path = '/v1/channels'
  return objectOf(await call(subject, { path, body: requestOf(rule) }), `creating a channel`)
}

/** Asks for a StableWallet and returns what was answered, which must be an object. */
export async function createWallet(subject: Subject, id: string): Promise<Fields> {
  const path = '/v1/stable-wallets'
  return objectOf(await call(subject, { path, body: { id } }), `creating a StableWallet`)
}

function objectOf(answer: Answer, what: string): Fields {
  mustSucceed(answer, what)
  return fieldsOf(answer.body, what)
}

export function fieldsOf(value: unknown, what: string): Fields {
  must(
    typeof value === 'object' && value !== null && !Array.isArray(value),
    `${what}: an object is stated, ${shown(value)} was answered`,
  )
  return value as Fields
}

/** The field as text. */
export function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  must(typeof value === 'string', `${name} is stated to be a string, and is ${shown(value)}`)
  return value
}

/** The field as an array of deposit address objects. */
export function addressesOf(fields: Fields, name: string): DepositAddress[] {
  const value = fields[name]
  must(Array.isArray(value), `${name} is stated to be an array, and is ${shown(value)}`)
  return value.map((one: unknown) => {
    const entry = fieldsOf(one, `an entry of ${name}`)
    return { network: textOf(entry, 'network'), address: textOf(entry, 'address') }
  })
}

/** A channel as the interface states it, ready to be paid. */
export async function openChannel(subject: Subject, network: string): Promise<Channel> {
  const rule = freshRule(network)
  const answer = await createChannel(subject, rule)
  return { ...rule, addresses: addressesOf(answer, 'addresses') }
}

/** A StableWallet as the interface states it, ready to be paid. */
export async function openWallet(subject: Subject): Promise<Wallet> {
  const id = freshId()
  const wallet = fieldsOf((await createWallet(subject, id))['stable_wallet'], 'stable_wallet')
  return { id, addresses: addressesOf(wallet, 'deposit_addresses') }
}

export function addressOn(network: string, { addresses }: Channel | Wallet): string {
  const found = addresses.find((one) => one.network === network)
  must(found !== undefined, `there is no deposit address on ${network} among ${shown(addresses)}`)
  return found.address
}
