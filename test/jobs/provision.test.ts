import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultService } from '../../src/core/evidence.ts'
import { auditOwners } from '../../src/jobs/books/ledger-work.ts'
import { createChannel, createStableWallet, type ProvisionDeps } from '../../src/jobs/provision.ts'
import { connectOwners } from '../../src/provider/owners-client.ts'
import { readOwners } from '../../src/store/owners.ts'
import { type Books, openBooks } from '../support/books.ts'
import { evmNetwork } from '../support/made-up-networks.ts'
import { profileOf } from '../support/profile.ts'
import { keyAuth } from '../support/service-auth.ts'

type Stated = {
  id: string
  addresses: { network: string; address: string }[]
  forward_recipient?: string
  forward_network?: string
}

let books: Books
let server: Server
let deps: ProvisionDeps
/** What the service has, by id; and how it answers a creation. */
let channels: Map<string, Stated>
let wallets: Map<string, Stated>
let answer: (stated: Stated) => { status: number; body: object }
let asked: string[]
let isListing: boolean

const address = (last: string) => `0x${last.padStart(40, '0')}`
const request = {
  id: 'new',
  forwardNetwork: 'arbitrum',
  forwardAsset: 'USDC',
  forwardRecipient: address('beef'),
}

beforeEach(async () => {
  books = await openBooks()
  channels = new Map()
  wallets = new Map()
  asked = []
  isListing = true
  answer = (stated) => ({ status: 201, body: channelOf(stated) })
  server = createServer((call, response) => {
    const chunks: Buffer[] = []
    call.on('data', (chunk: Buffer) => chunks.push(chunk))
    call.on('end', () => {
      const { status, body } = reply(
        call.method ?? '',
        new URL(call.url ?? '', 'http://s').pathname,
        Buffer.concat(chunks).toString(),
      )
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = connectOwners({ name: defaultService, url, auth: keyAuth('key') }, profileOf('depositd'))
  deps = { db: books.db, owners: client, networks: [evmNetwork('base'), evmNetwork('arbitrum')] }
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await books[Symbol.asyncDispose]()
})

const audit = () => auditOwners({ ...deps, owners: new Map([[defaultService, deps.owners]]) })

function reply(method: string, path: string, text: string): { status: number; body: object } {
  asked.push(`${method} ${path}`)
  const isOfChannels = path === '/v1/channels'
  const all = isOfChannels ? channels : wallets
  if (method === 'GET') {
    if (!isListing) return { status: 404, body: { error: 'no such call' } }
    const data = [...all.values()].map((one) => (isOfChannels ? channelOf(one) : walletOf(one)))
    return { status: 200, body: { data, next_cursor: null } }
  }
  const { id, forward_recipient } = JSON.parse(text) as Stated
  const fresh = {
    id,
    addresses: [{ network: 'base', address: address(`d${channels.size + wallets.size}`) }],
    ...(forward_recipient && { forward_recipient }),
  }
  const stated = all.get(id) ?? fresh
  all.set(id, stated)
  return isOfChannels ? answer(stated) : { status: 201, body: walletOf(stated) }
}

function channelOf(stated: Stated) {
  const rule = {
    forward_network: 'arbitrum',
    forward_asset_symbol: 'USDC',
    forward_recipient: address('beef'),
  }
  return { ...rule, ...stated }
}

function walletOf({ id, addresses }: Stated) {
  return { stable_wallet: { id, deposit_addresses: addresses } }
}

async function open(): Promise<object[]> {
  const rows = await books.db
    .selectFrom('mismatch')
    .select(['subject', 'kind', 'severity', 'detail'])
    .where('cleared_at', 'is', null)
    .execute()
  return rows
}

test('a channel and a wallet are created and kept; doing it again changes nothing', async () => {
  const entry = {
    owner: { kind: 'channel', id: 'new' },
    deposits: [{ network: 'base', address: address('d0') }],
    forward: { network: 'arbitrum', asset: 'USDC', recipient: address('beef') },
  }
  expect(await createChannel(deps, request)).toEqual(entry)
  expect(await createChannel(deps, request)).toEqual(entry)
  expect(await readOwners(books.db, 'channel', ['new'])).toEqual([entry])
  const wallet = {
    owner: { kind: 'stable_wallet', id: 'jar' },
    deposits: [{ network: 'base', address: address('d00') }],
    forward: null,
  }
  wallets.set('jar', { id: 'jar', addresses: [{ network: 'base', address: address('d00') }] })
  expect(await createStableWallet(deps, 'jar')).toEqual(wallet)
  expect(await open()).toEqual([])
})

test('of twenty who create one channel at once, each gets the same', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => createChannel(deps, request)))
  expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(1)
})

test('what the service refuses because it exists is taken from its list', async () => {
  channels.set('new', { id: 'new', addresses: [{ network: 'base', address: address('d7') }] })
  answer = () => ({ status: 409, body: { error: 'exists' } })
  expect((await createChannel(deps, request)).deposits).toEqual([{ network: 'base', address: address('d7') }])
  isListing = false
  await expect(createChannel(deps, { ...request, id: 'other' })).rejects.toThrow(/POST \/v1\/channels.*409/)
})

test.each<[string, Partial<typeof request>, RegExp]>([
  [
    'a recipient with a wrong checksum',
    { forwardRecipient: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed' },
    /wrong checksum/,
  ],
  ['a recipient that is cut', { forwardRecipient: '0xdead' }, /40 hexadecimal digits/],
  ['a recipient on a network that is not known', { forwardNetwork: 'moon' }, /unknown network moon/],
  [
    'a recipient that is a deposit address of ours',
    { forwardRecipient: address('d0') },
    /is a deposit address of channel\/first/,
  ],
  [
    'another rule than the one that is kept',
    { id: 'first', forwardRecipient: address('bad') },
    /channel first forwards/,
  ],
])('%s is refused before the service is asked', async (_what, changes, problem) => {
  await createChannel(deps, { ...request, id: 'first' })
  asked = []
  await expect(createChannel(deps, { ...request, ...changes })).rejects.toThrow(problem)
  expect(asked).toEqual([])
})

test('an answer with another address than the one that is kept is severe, and changes nothing', async () => {
  const entry = await createChannel(deps, request)
  channels.set('new', { id: 'new', addresses: [{ network: 'base', address: address('bad') }] })
  await expect(createChannel(deps, request)).rejects.toThrow(
    /approved: base 0x0*d0, stated: base 0x0*bad; opened mismatch address_changed/,
  )
  expect(await readOwners(books.db, 'channel', ['new'])).toEqual([entry])
  expect(await open()).toEqual([
    {
      subject: 'owner/channel/new',
      kind: 'address_changed',
      severity: 'severe',
      detail: {
        owner: 'channel/new',
        approved: `address base ${address('d0')}`,
        stated: `address base ${address('bad')}`,
      },
    },
  ])
})

test('an answer with another recipient is severe; what was asked for is kept', async () => {
  answer = (stated) => ({ status: 201, body: channelOf({ ...stated, forward_recipient: address('bad') }) })
  await expect(createChannel(deps, request)).rejects.toThrow(/stated: arbitrum 0x0*bad/)
  expect(await readOwners(books.db, 'channel', ['new'])).toMatchObject([
    { forward: { recipient: address('beef') } },
  ])
  expect(await open()).toMatchObject([{ subject: 'owner/channel/new', kind: 'address_changed' }])
})

test('an answer about somebody else is refused', async () => {
  answer = (stated) => ({ status: 201, body: channelOf({ ...stated, id: 'else' }) })
  await expect(createChannel(deps, request)).rejects.toThrow(/requested new, but the service returned else/)
  expect(await readOwners(books.db, 'channel', ['new', 'else'])).toEqual([])
})

test('the audit opens what the lists state otherwise, and ends it once they state it as approved', async () => {
  await createChannel(deps, request)
  await createStableWallet(deps, 'jar')
  channels.set('addressConflict', {
    id: 'addressConflict',
    addresses: [{ network: 'base', address: address('5') }],
  })
  expect(await audit()).toEqual({ compared: 2, changes: [] })
  const approved = channels.get('new')
  channels.set('new', {
    id: 'new',
    addresses: [{ network: 'base', address: address('bad') }],
    forward_recipient: address('bad2'),
  })
  wallets.set('jar', { id: 'jar', addresses: [{ network: 'base', address: address('bad3') }] })
  const { changes } = await audit()
  expect(changes.map(({ change }) => change)).toEqual(['opened', 'opened'])
  expect(await open()).toMatchObject([
    {
      subject: 'owner/channel/new',
      detail: { stated: `address base ${address('bad')}, recipient arbitrum ${address('bad2')}` },
    },
    { subject: 'owner/stable_wallet/jar' },
  ])
  expect((await audit()).changes).toEqual([])
  if (approved !== undefined) channels.set('new', approved)
  expect((await audit()).changes).toMatchObject([{ kind: 'address_changed', change: 'cleared' }])
  expect(await open()).toMatchObject([{ subject: 'owner/stable_wallet/jar' }])
})

test('metrics are told networks of the book, whatever words the service has for others', async () => {
  await createChannel(deps, request)
  const approved = channels.get('new')
  if (approved !== undefined) channels.set('new', { ...approved, forward_network: 'moon-4711' })
  const { changes } = await audit()
  expect(changes).toMatchObject([{ kind: 'address_changed', change: 'opened', network: 'arbitrum' }])
})

test('a network that comes to an owner is no contradiction, and neither is a service without lists', async () => {
  await createChannel(deps, request)
  channels
    .get('new')
    ?.addresses.push({ network: 'arbitrum', address: address('9') }, { network: 'moon', address: 'x' })
  expect(await audit()).toEqual({ compared: 1, changes: [] })
  isListing = false
  expect(await audit()).toEqual({ compared: 0, changes: [] })
})
