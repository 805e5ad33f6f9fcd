import { expect, test } from 'vitest'
import type { z } from 'zod'
import { parseSettings } from '../../src/config/settings.ts'
import { readSecret } from '../../src/outbox/signing-key.ts'
import { createClaimReader } from '../../src/provider/read-claim.ts'
import { recordWriter } from '../../src/service/deposits/record.ts'
import { type End, faultTable } from '../../src/service/faults/fault-table.ts'
import { type ProblemCode, problems } from '../../src/service/http/problem.ts'
import { routes } from '../../src/service/http/server.ts'
import { deliverySchema, endpointWithSecret } from '../../src/service/http/webhook-schemas.ts'
import type { ServiceDepositRow } from '../../src/service/tables.ts'
import { fences, tableRows } from '../support/markdown.ts'
import { ownProfile } from '../support/profile.ts'
import { readText } from './pages.ts'

type Document = Record<string, unknown>

const page = readText('docs/deposit-service.md')
const rows = tableRows(page)
const documents = fences(page)
  .filter(({ language }) => language === 'json')
  .map(({ text }) => JSON.parse(text) as Document)
const webhook = documents.find((one) => String(one.id).startsWith('evt_')) ?? {}
const list = documents.find((one) => Array.isArray(one.data)) ?? {}
const [record = {}] = list.data as Document[]

const settings = parseSettings(
  {
    DATABASE_URL: 'postgres://database.example/depositd',
    SERVICE_URL: 'https://deposits.example',
    SERVICE_API_KEY: 'key',
    WEBHOOK_SECRETS: 'whsec_',
    RPC_BASE: 'https://node.example',
  },
  () => '',
)
const readClaim = createClaimReader(ownProfile, settings)

function readAs(source: 'webhook' | 'api', document: unknown) {
  return readClaim({ source, body: Buffer.from(JSON.stringify(document)), receivedAt: new Date(0) })
}

test('depositd reads the webhook and the record of the page', () => {
  expect(readAs('webhook', webhook)).toMatchObject({
    kind: 'claim',
    claim: { serviceId: 'dep_8c7b6a5f4e3d2c1b0a9f8e7d' },
  })
  expect(readAs('api', record)).toMatchObject({
    kind: 'claim',
    claim: { serviceId: 'dep_3d0f1a7c9b5e48d2a6f01c73' },
  })
})

test('the record and the data of the webhook have the fields that the service writes, in their order', () => {
  const written = recordWriter(settings.networks)(row)
  expect(keysOf(record)).toEqual(keysOf(written))
  expect(keysOf(webhook.data)).toEqual(keysOf(written))
})

test('the statuses and events are those of the service, and depositd reads each as the page says', () => {
  const events = [...readText('src/service/webhooks/outbox.ts').matchAll(/^ {2}(\w+): '(deposit\.\w+)',$/gm)]
  const stated = rows.filter(({ cells }) => cells[0]?.startsWith('`deposit.'))
  const inCode = events.map(([, status, event]) => [status, `\`${event}\``])
  expect(stated.map(({ name, cells }) => [name, cells[0]])).toEqual(inCode)
  for (const { name: status, cells } of stated) {
    const word = cells[2]?.replaceAll('`', '')
    expect(readAs('api', { ...record, status })).toMatchObject({ claim: { status: word } })
  }
})

test('the errors are those of the service', () => {
  const { shape } = problems.schema
  const codes = (shape['code'] as z.ZodEnum).options as ProblemCode[]
  const inCode = codes.map((code) => [code, [`${problems.statusOf(code)}`, problems.describe(code)]])
  const stated = rows.filter(({ cells }) => /^\d{3}$/.test(cells[0] ?? ''))
  const onPage = stated.map(({ name, cells }) => [name, cells])
  expect(Object.fromEntries(onPage)).toEqual(Object.fromEntries(inCode))
})

test('the calls and their scopes are those of the service', () => {
  const inCode = routes.map(({ method, path, scope }) => [`${method.toUpperCase()} ${path}`, scope ?? 'none'])
  const stated = rows.filter(({ name }) => /^[A-Z]+ \//.test(name))
  expect(stated.map(({ name, cells }) => [name, cells[0]?.split(' ')[0]])).toEqual(inCode)
})

test('the endpoint and the delivery of the page are answers that the service gives', () => {
  const endpoint = documents.find((one) => String(one.id).startsWith('wep_'))
  const delivery = documents.find((one) => 'event_id' in one)
  expect(endpointWithSecret.safeParse(endpoint).error).toBeUndefined()
  expect(readSecret(String(endpoint?.secret))).not.toBeNull()
  expect(deliverySchema.safeParse(delivery).error).toBeUndefined()
})

test('the fault knobs and the mismatches that they cause are those of the service', () => {
  const stated = rows.filter(({ name }) => name.endsWith('Rate'))
  const inPage = stated.map(({ name, cells }) => [name, ...cells.map((cell) => cell.replaceAll('`', ''))])
  const inCode = Object.entries(faultTable).map(([name, { scope, does, ...then }]) => [
    name,
    scope,
    `${does.charAt(0).toUpperCase()}${does.slice(1)}.`,
    then.mismatch === null ? `None: ${then.absorbed}.` : reported(then),
  ])
  expect(inPage).toEqual(inCode)
})

function linkTo(kind: string): string {
  return `[${kind}](mismatches.md#${kind})`
}

type Entry = { mismatch: string; ends: End; ofWallets?: string; ifRead?: string }

function reported({ mismatch, ends, ofWallets, ifRead }: Entry): string {
  const more = ofWallets === undefined ? '' : `, for a StableWallet ${linkTo(ofWallets)} too`
  const read = ifRead === undefined ? '' : `, and ${linkTo(ifRead)} if it was read before`
  return `${linkTo(mismatch)}${more}${read}; ${ending[ends]}`
}

const ending: Record<End, string> = {
  time: 'clears by itself',
  resend: 'clears once the webhooks are sent again',
  record: 'clears once the record is right',
  person: 'a person decides',
}

const destination = {
  to_network: null,
  to_address: 'savings',
  to_asset: 'USDC',
  to_decimals: 6,
  to_amount: '1',
}
const row = {
  id: 'dep_1',
  owner_kind: 'stable_wallet',
  owner_id: 'savings',
  status: 'credited',
  network: 'other',
  address: 'a',
  amount: '1',
  block: 1n,
  block_at: new Date(0),
  ...destination,
  fee: '1',
  reason: null,
  refund_address: null,
  refund_amount: null,
  created_at: new Date(0),
  updated_at: new Date(0),
} as unknown as ServiceDepositRow

function keysOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return null
  return Object.entries(value).map(([key, inner]) => [key, keysOf(inner)])
}
