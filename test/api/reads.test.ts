import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRoutes } from '../../src/api/routes.ts'
import { verifyBundle } from '../../src/evidence/verify-bundle.ts'
import { listAudit } from '../../src/store/sessions.ts'
import type { Books } from '../support/books.ts'
import { base, channelAddress, recipient, txId, usdcOnArbitrum, usdcOnBase } from '../support/evidence.ts'
import { makeBundleOfTwo } from '../support/evidence-bundle.ts'
import { openEvidenceWorld } from '../support/evidence-world.ts'
import { openReadBooks, type ReadClient, serveReadApi } from '../support/read-api.ts'
import { acmeAddress } from '../support/two-services.ts'

const stack = new AsyncDisposableStack()
let books: Books
let api: ReadClient

beforeAll(async () => {
  books = stack.use(await openReadBooks())
  api = await serveReadApi(books, stack)
})
afterAll(() => stack.disposeAsync())

const idsOf = ({ body }: { body: { data: { id: string }[] } }) => body.data.map(({ id }) => id)
const listed = async (query: string) => idsOf(await api.get(`/v1/deposits?${query}`))

const kinds = async (query: string) =>
  (await api.get(`/v1/mismatches?${query}`)).body.data.map(({ kind }: { kind: string }) => kind)

describe('deposits', () => {
  test('are found by each of the parameters', async () => {
    expect(await listed('')).toEqual(['10', '9', '8', '7', '6', '5', '4', '3', '2', '1'])
    expect(await listed('service=acme')).toEqual(['10'])
    expect(await listed('service_id=dep_3')).toEqual(['3'])
    expect(await listed(`tx=${txId('pay2')}`)).toEqual(['2'])
    expect(await listed(`tx=${txId('forward3').toUpperCase().replace('X', 'x')}`)).toEqual(['3'])
    expect(await listed(`tx=${txId('pays two')}`)).toEqual(['9', '8'])
    expect(await listed(`address=${acmeAddress.replace('ac', 'AC')}`)).toEqual(['10'])
    expect(await listed('owner=savings')).toEqual(['9', '4'])
    expect(await listed('state=reconciled')).toEqual(['4', '2', '1'])
    expect(await listed('network=arbitrum')).toEqual([])
    expect(await listed('since=2026-01-02T12:00:00Z&until=2026-01-03T00:00:00%2B00:00')).toEqual([
      '6',
      '5',
      '4',
    ])
  })

  test('come in pages that new deposits do not shift', async () => {
    const first = await api.get('/v1/deposits?limit=4&owner=shop')
    expect(idsOf(first)).toEqual(['8', '7', '6', '5'])
    const next = await api.get(`/v1/deposits?limit=4&owner=shop&cursor=${first.body.next_cursor}`)
    expect([idsOf(next), next.body.next_cursor]).toEqual([['3', '2', '1'], null])
  })

  test('are shown with both legs, in units and base units, and with all that is known', async () => {
    const { body } = await api.get('/v1/deposits/3')
    expect(body).toMatchObject({
      service_id: 'dep_3',
      owner: { kind: 'channel', id: 'shop' },
      deposit: {
        network: base,
        address: channelAddress,
        tx: txId('pay3'),
        amount: { amount: '200.000000', amount_base: '200000000', asset_symbol: 'USDC', asset: usdcOnBase },
      },
      settlement: { address: recipient, amount: { amount: '179.820000', asset: usdcOnArbitrum } },
      fee: { amount: '0.200000' },
      matrix: { deposit: { chain: 'agrees' }, settlement: { api: 'differs' } },
      mismatches: [{ kind: 'settlement_short', loss: { amount: '19.980000' } }],
      timeline_complete: true,
      links: {
        evidence: '/v1/deposits/3/evidence',
        statement: '/v1/owners/shop/statement',
        explorer: { deposit: `https://basescan.org/tx/${txId('pay3')}` },
      },
    })
    expect(body.journals.length).toBeGreaterThan(1)
    expect(body.journals[0].transfers[0].amount).toMatchObject({
      amount: '200.000000',
      amount_base: '200000000',
    })
    expect(body.timeline.map(({ source }: { source: string }) => source)).toContain('webhook')
    expect(Math.abs(Date.now() - Date.parse(body.as_of))).toBeLessThan(60_000)
  })

  test('of a number that is none are not found, and of a text that is no number refused', async () => {
    expect((await api.get('/v1/deposits/999')).body).toMatchObject({ status: 404, code: 'not_found' })
    expect((await api.get('/v1/deposits/dep_1')).body).toMatchObject({ status: 400, code: 'request_invalid' })
  })
})

describe('an evidence bundle', () => {
  test('is the file that the command writes; it verifies, and is in the audit log', async () => {
    await using world = await openEvidenceWorld()
    expect((await makeBundleOfTwo(world)).made.status).toBe(0)
    await using within = new AsyncDisposableStack()
    const own = await serveReadApi(world.books, within, { environment: world.environment })
    const token = await own.token({ name: 'shop-backend' })
    const { status, text } = await own.get('/v1/deposits/1/evidence', token)
    expect([status, verifyBundle(text).checks.filter(({ outcome }) => outcome === 'failed')]).toEqual([
      200,
      [],
    ])
    const filter = { person: null, action: 'bundle_made', after: null, limit: 1 }
    expect((await listAudit(world.books.owner, filter))[0]).toMatchObject({
      person: null,
      detail: 'deposit 1, by the token shop-backend',
    })
  })

  test('that would not verify is refused with the command that says why', async () => {
    const { body } = await api.get('/v1/deposits/1/evidence')
    expect(body).toMatchObject({ status: 409, code: 'evidence_unavailable' })
    expect(body.detail).toContain('bin/depositd deposits evidence 1')
  })
})

describe('mismatches', () => {
  test('are listed with what they say, and found by each of the parameters', async () => {
    const { body } = await api.get('/v1/mismatches?kind=settlement_short')
    expect(body.data).toMatchObject([
      {
        deposit_id: '3',
        severity: 'severe',
        status: 'open',
        loss: { amount: '19.980000', amount_base: '19980000', asset: usdcOnArbitrum },
        says: 'Short by 19.98 USDC: the service states 199.8, the chain shows 179.82',
        amounts: { stated: { amount: '199.800000' } },
        links: { deposit: '/v1/deposits/3' },
      },
    ])
    expect(await kinds('deposit=3')).toEqual(['settlement_short'])
    expect(await kinds('service=acme')).toEqual(['unreported'])
    expect(await kinds('severity=info&network=base&status=all')).toEqual(['not_covered'])
    expect(await kinds('until=2000-01-01T00:00:00Z')).toEqual([])
    const first = await api.get('/v1/mismatches?limit=1')
    const next = await api.get(`/v1/mismatches?limit=1&cursor=${first.body.next_cursor}`)
    expect(Number(idsOf(next)[0])).toBeLessThan(Number(idsOf(first)[0]))
  })

  test('are shown with what they mean, the next step and their history', async () => {
    const [id] = idsOf(await api.get('/v1/mismatches?deposit=3'))
    const { body } = await api.get(`/v1/mismatches/${id}`)
    expect(body).toMatchObject({ means: 'The recipient received less than the service states.' })
    expect(body.history).toMatchObject([{ actor: 'depositd', action: 'opened' }])
    expect((await api.get('/v1/mismatches/999')).status).toBe(404)
  })
})

describe('the books', () => {
  test('have the statement of an owner, in pages, with a running balance', async () => {
    const whole = (await api.get('/v1/owners/shop/statement?until=2026-02-01T00:00:00Z')).body
    expect(whole.data[0]).toMatchObject({ line: 'opening', balance: { amount: '0.000000' } })
    expect(whole.data.at(-1)).toMatchObject({ line: 'closing', at: '2026-02-01T00:00:00.000Z' })
    const lines: object[] = []
    for (let cursor = ''; ; ) {
      const query = `until=2026-02-01T00:00:00Z&limit=2${cursor}`
      const { body } = await api.get(`/v1/owners/channel:shop/statement?${query}`)
      lines.push(...body.data)
      if (body.next_cursor === null) break
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(lines).toEqual(whole.data)
    const first = (await api.get('/v1/owners/shop/statement?limit=1')).body
    const second = await api.get(`/v1/owners/shop/statement?limit=1&cursor=${first.next_cursor}`)
    expect([second.status, second.body.errors]).toMatchObject([400, [{ parameter: 'until' }]])
    const acme = await api.get('/v1/owners/acme%2Fshop/statement')
    expect([acme.status, acme.body.owner]).toEqual([200, 'acme/shop'])
    expect((await api.get('/v1/owners/assets:in_transit:base/statement')).status).toBe(404)
  })

  test('have balances and a trial balance that add up, in pages', async () => {
    const { body } = await api.get('/v1/trial-balance')
    expect(body.balanced).toBe(true)
    const first = await api.get('/v1/trial-balance?limit=3')
    const rest = await api.get(`/v1/trial-balance?cursor=${first.body.next_cursor}`)
    expect([...first.body.data, ...rest.body.data]).toEqual(body.data)
    expect(rest.body.totals).toEqual(body.totals)
    const balances = (await api.get('/v1/balances')).body.data
    const transit = { account: 'assets:in_transit:base' }
    const inTransit = balances.find((one: typeof transit) => one.account === transit.account)
    const line = body.data.find((one: typeof transit) => one.account === transit.account)
    expect(inTransit.balance).toEqual(line.balance)
    const page = await api.get('/v1/balances?limit=1')
    const after = await api.get(`/v1/balances?limit=1&cursor=${page.body.next_cursor}`)
    expect([...page.body.data, ...after.body.data]).toEqual(balances.slice(0, 2))
  })

  test('have a trial balance of an earlier time and of a month', async () => {
    const early = (await api.get('/v1/trial-balance?as_of=2026-01-01T10:01:00Z')).body
    expect(early.as_of).toBe('2026-01-01T10:01:00.000Z')
    expect(early.totals).toMatchObject([{ debit: { amount: expect.stringMatching(/^[1-9]/) } }])
    expect((await api.get('/v1/trial-balance?period=2025-12')).body.data).toEqual([])
    expect((await api.get('/v1/trial-balance?recorded_as_of=2026-01-01T00:00:00Z')).body.data).toEqual([])
  })
})

test('services, networks and health are what the daemon knows', async () => {
  const services = (await api.get('/v1/services')).body.data
  expect(services).toEqual([{ name: 'default', is_paused: false, read_at: null }])
  const networks = (await api.get('/v1/networks')).body.data
  expect(networks.map(({ name }: { name: string }) => name)).toContain('base')
  expect((await api.get('/v1/health')).body).toMatchObject({ ready: true, unready: [] })
})

test('every call has a summary and an operation of its own', () => {
  expect(new Set(readRoutes.map(({ path }) => path)).size).toBe(readRoutes.length)
  const writing = readRoutes.filter(({ method }) => method !== 'get')
  expect(writing.every(({ method, scope }) => method === 'post' && scope === 'write_cases')).toBe(true)
})
