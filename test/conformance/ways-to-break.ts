import type { Alteration, Seen } from './altering-proxy.ts'

/** Ways to break a service before its calls are answered, or after. None of them needs a payment to be seen. */

type Fields = Record<string, unknown>
type Entry = { network: string; address: string }

/**
 * What is wrong with the service, how it is made so, and words of one or more facts: those with these words must be
 * found broken.
 */
export type Way = { that: string; alteration: Alteration; breaks: string }

const someHex = '0x00000000000000000000000000000000000000aa'
const someBase58 = 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk'
const refused = { status: 400, body: {} }

const isChannel = ({ path }: Seen) => path === '/v1/channels'
const isWallet = ({ path }: Seen) => path === '/v1/stable-wallets'
const isToSolana = ({ body }: Seen) => body?.['forward_network'] === 'solana'
const isReading = ({ method }: Seen) => method === 'GET'

/** Alters the answer where something was made or read. */
function answered(isMeant: (seen: Seen) => boolean, alter: (body: Fields) => unknown): Alteration {
  return {
    answer: (given, seen) =>
      isMeant(seen) && given.status < 300 ? { ...given, body: alter(given.body as Fields) } : given,
  }
}

const channel = (alter: (body: Fields) => unknown): Alteration => answered(isChannel, alter)
const wallet = (alter: (wallet: Fields) => unknown): Alteration =>
  answered(isWallet, (body) => alter(body['stable_wallet'] as Fields))

/** Alters the deposit addresses of channels and of wallets. */
function addresses(alter: (entries: Entry[]) => Entry[]): Alteration {
  return answered(
    (seen) => isChannel(seen) || isWallet(seen),
    (body) => {
      const own = body['stable_wallet'] as Fields | undefined
      if (own === undefined) return { ...body, addresses: alter(body['addresses'] as Entry[]) }
      return { stable_wallet: { ...own, deposit_addresses: alter(own['deposit_addresses'] as Entry[]) } }
    },
  )
}

function address(network: string, alter: (address: string) => string): Alteration {
  return addresses((entries) =>
    entries.map((entry) => (entry.network === network ? { network, address: alter(entry.address) } : entry)),
  )
}

function refusing(isMeant: (seen: Seen) => boolean): Alteration {
  return { request: (seen) => (isMeant(seen) ? refused : seen) }
}

/** Lets in whoever would be turned away. */
function lettingIn(key: string, isMeant: (seen: Seen) => boolean): Alteration {
  return { request: (seen) => (isMeant(seen) ? { ...seen, key } : seen) }
}

export function waysToBreak({ key, readKey }: { key: string; readKey: string | null }): Way[] {
  return [...ofAnswers(), ...ofAddresses(), ...ofRequests(), ...ofKeys(key, readKey)]
}

function way(that: string, alteration: Alteration, breaks: string): Way {
  return { that, alteration, breaks }
}

function ofAnswers(): Way[] {
  const another = { forward_network: 'mainnet', forward_recipient: someHex }
  return [
    way(
      'chooses ids',
      channel((body) => ({ ...body, id: 'chan_1' })),
      'id | string | request and',
    ),
    way(
      'answers an id as number',
      channel((body) => ({ ...body, id: 1 })),
      'Response body (JSON object): id',
    ),
    way(
      'answers no symbol',
      channel((body) => ({ ...body, forward_asset_symbol: undefined })),
      'forward_asset_symbol |',
    ),
    way(
      'echoes forward_asset',
      channel((body) => ({ ...body, forward_asset: 'USDC' })),
      'The response always uses',
    ),
    way(
      'echoes forward_address',
      channel((body) => ({ ...body, forward_address: someHex })),
      'A builder accepts both',
    ),
    way(
      'forwards to another network',
      channel((body) => ({ ...body, ...another })),
      'forward_network | string',
    ),
    way(
      'forwards to another address',
      channel((body) => ({ ...body, ...another })),
      'forward_recipient | string',
    ),
    way(
      'lists addresses in an object',
      channel((body) => ({ ...body, addresses: {} })),
      'addresses | array of deposit address objects | response',
    ),
    way(
      'answers a wallet bare',
      wallet((own) => own),
      'In a response the StableWallet is wrapped',
    ),
    way(
      'says more beside a wallet',
      wallet((own) => ({ stable_wallet: own, more: 1 })),
      'In a response the',
    ),
    way(
      'chooses ids of wallets',
      wallet((own) => ({ stable_wallet: { ...own, id: 'w' } })),
      'id | string | Caller',
    ),
    way(
      'lists nothing',
      answered(isReading, () => ({})),
      'Purpose: read deposits.',
    ),
    way('answers HTML', { answer: (given, seen) => (isReading(seen) ? '<p>' : given) }, 'use JSON bodies'),
  ]
}

function ofAddresses(): Way[] {
  const native = 'address | string | Deposit address on that network.'
  return [
    {
      that: 'has no address on arbitrum',
      alteration: addresses((all) => all.filter(({ network }) => network !== 'arbitrum')),
      breaks: 'network | string | Network name.',
    },
    {
      that: 'has two addresses on base',
      alteration: addresses((all) => [...all, { network: 'base', address: someHex }]),
      breaks: 'A channel is a forwarding rule with a set',
    },
    {
      that: 'names networks in capitals',
      alteration: addresses((all) => all.map((one) => ({ ...one, network: one.network.toUpperCase() }))),
      breaks: 'network | string | Network name.',
    },
    {
      that: 'has an address of its own on base',
      alteration: address('base', () => someHex),
      breaks: 'The same hexadecimal address is used',
    },
    {
      that: 'is hexadecimal on solana',
      alteration: address('solana', () => someHex),
      breaks: 'solana carries a',
    },
    { that: 'is base58 on mainnet', alteration: address('mainnet', () => someBase58), breaks: native },
    {
      that: 'cuts hexadecimal addresses short',
      alteration: address('base', (text) => text.slice(0, -1)),
      breaks: 'mainnet, base and arbitrum carry a',
    },
    {
      that: 'has one address on solana for everybody',
      alteration: address('solana', () => someBase58),
      breaks: 'A channel is a forwarding rule with a set',
    },
  ]
}

function ofRequests(): Way[] {
  const without = (name: string): Alteration => refusing(({ body }) => body?.[name] !== undefined)
  return [
    { that: 'does not know forward_asset', alteration: without('forward_asset'), breaks: 'forward_asset |' },
    { that: 'does not know forward_token', alteration: without('forward_token'), breaks: 'forward_token |' },
    {
      that: 'does not know forward_recipient',
      alteration: without('forward_recipient'),
      breaks: 'Two request spellings are documented',
    },
    {
      that: 'does not know forward_address',
      alteration: without('forward_address'),
      breaks: 'forward_address |',
    },
    {
      that: 'does not forward to solana',
      alteration: refusing(isToSolana),
      breaks: 'forward_network | string',
    },
    { that: 'makes no channels', alteration: refusing(isChannel), breaks: 'Purpose: create a channel.' },
    { that: 'makes no wallets', alteration: refusing(isWallet), breaks: 'Purpose: create a StableWallet.' },
    {
      that: 'makes nothing',
      alteration: refusing(({ body }) => body !== null),
      breaks: 'Requests with a body send',
    },
    // Every fact.
    { that: 'is elsewhere', alteration: refusing(() => true), breaks: '' },
    {
      that: 'serves paths without the version',
      alteration: { request: (seen) => ({ ...seen, path: seen.path.replace(/^(\/v1)?/, '/v1') }) },
      breaks: 'The version is part of the path',
    },
  ]
}

function ofKeys(key: string, readKey: string | null): Way[] {
  const isReader = (seen: Seen) => seen.key === readKey
  return [
    {
      that: 'lets in whoever has no key',
      alteration: lettingIn(key, (seen) => seen.key === null),
      breaks: 'Every call carries the X-API-KEY header',
    },
    {
      that: 'lets in whoever has any key',
      alteration: lettingIn(key, (seen) => seen.key !== null && !isReader(seen)),
      breaks: 'are authenticated with an API key',
    },
    {
      that: 'lets readers make channels',
      alteration: lettingIn(key, (seen) => isReader(seen) && isChannel(seen)),
      breaks: 'Creating a channel or a StableWallet therefore',
    },
    {
      that: 'lets readers make wallets',
      alteration: lettingIn(key, (seen) => isReader(seen) && isWallet(seen)),
      breaks: 'An API key has a scope. Two scopes exist:',
    },
    { that: 'refuses readers', alteration: refusing(isReader), breaks: 'Requires at least the read scope.' },
    {
      that: 'lets writers only write',
      alteration: refusing((seen) => seen.key === key && isReading(seen)),
      breaks: 'Reading needs read or write.',
    },
  ]
}
