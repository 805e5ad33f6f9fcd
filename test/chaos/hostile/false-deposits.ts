import type { PaidDeposit } from '../world.ts'
import { type FalseClaim, ownClaim } from './false-claims.ts'

/** What is told of a deposit and is not so, and the mismatches of which one must name it. */
export type Falsehood = {
  what: string
  id: string
  serviceId: string
  body: string
  kinds: readonly string[]
}

/** A claim, or a text that is changed behind it: some of what is told is not even in the form of a claim. */
type Telling = { claim?: Partial<FalseClaim>; change?: [string, string]; kinds: readonly string[] }

const unread = ['schema_drift', 'unknown_status', 'unknown_event']
const unproved = ['chain_missing', 'not_covered', 'unknown_address', 'recipient_mismatch', 'unknown_owner']

function sourceOf({ network, tx, address, asset, amount }: PaidDeposit) {
  const contract = asset.slice(asset.indexOf('/') + 1)
  return {
    network,
    transaction: tx,
    address,
    contract: contract === 'native' ? null : contract,
    amount: amount.toString(),
    index: '0',
  }
}

/** Of deposits that nobody made. */
function ofNothing(): Record<string, Telling> {
  const amount = (text: string): Telling => ({
    change: ['"amount":"100"', `"amount":${text}`],
    kinds: unread,
  })
  return {
    'a negative amount': amount('"-100"'),
    'a negative number': amount('-100'),
    nothing: amount('null'),
    'a fraction': amount('"0.1"'),
    'more than any asset has': amount(`"${'9'.repeat(79)}"`),
    'a transaction that never was': { kinds: unproved },
    'a network that is not known': {
      claim: { source: { network: 'dogechain' } },
      kinds: [...unread, ...unproved, 'network_mismatch', 'unsupported_token'],
    },
    'a transaction that is no transaction': {
      claim: { source: { transaction: "'; drop table inbox" } },
      kinds: unread,
    },
    'an address that is no address': { claim: { source: { address: '../../etc/passwd' } }, kinds: unread },
    'a status that nobody has heard of': { claim: { status: 'yours' }, kinds: unread },
    'an event that nobody has heard of': { claim: { type: 'money.printed' }, kinds: unread },
  }
}

/** Of a payment that is real: whose it is, how much, and what of. */
function ofPayment(real: PaidDeposit, other: PaidDeposit): Record<string, Telling> {
  const source = sourceOf(real)
  return {
    'ten times the amount': {
      claim: { source: { ...source, amount: `${real.amount}0` } },
      kinds: ['amount_mismatch', 'tx_reused', 'ambiguous_match', 'chain_missing', 'not_covered'],
    },
    "somebody else's transaction for one's own address": {
      claim: { source: { ...source, address: other.address } },
      kinds: [...unproved, 'tx_reused', 'ambiguous_match'],
    },
    'another owner of the address': {
      claim: { source, owner: { type: 'stable_wallet', id: 'mallory' } },
      kinds: [
        'recipient_mismatch',
        'unknown_owner',
        'address_changed',
        'tx_reused',
        'ambiguous_match',
        'status_conflict',
      ],
    },
    'another asset': {
      claim: { source: { ...source, contract: `0x${'ee'.repeat(20)}` } },
      kinds: [...unread, ...unproved, 'asset_mismatch', 'unsupported_token', 'tx_reused'],
    },
    'another network': {
      claim: { source: { ...source, network: real.network === 'base' ? 'arbitrum' : 'base' } },
      kinds: [...unproved, 'network_mismatch', 'tx_reused', 'asset_mismatch', 'unsupported_token', ...unread],
    },
  }
}

/** Each has an event and an id of the service of its own. */
export function falsehoods(word: string, real: PaidDeposit, other: PaidDeposit): Falsehood[] {
  const all = { ...ofNothing(), ...ofPayment(real, other) }
  return Object.entries(all).map(([what, { claim, change: [from, to] = ['', ''], kinds }], place) => {
    const id = `evt-${word}-${place}`
    const serviceId = `dep-${word}-${place}`
    const body = ownClaim({ ...claim, id, serviceId }).replace(from, to)
    return { what, id, serviceId, body, kinds }
  })
}
