import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { at, txId } from '../../support/evidence.ts'
import { makeBundleOfTwo, outcomes, verifyDocument } from '../../support/evidence-bundle.ts'
import { type EvidenceWorld, openEvidenceWorld } from '../../support/evidence-world.ts'
import { makeSecret } from '../../support/sign-webhook.ts'

let world: EvidenceWorld
let path: string
let text: string

beforeAll(async () => {
  world = await openEvidenceWorld()
  const { path: file, made, text: document } = await makeBundleOfTwo(world)
  expect(made).toMatchObject({ status: 0, err: '' })
  path = file
  text = document
})
afterAll(() => world[Symbol.asyncDispose]())

test('a bundle verifies without the database, and says what was not done', async () => {
  const printed = await verifyDocument(world, text)
  expect(printed.status).toBe(0)
  expect(outcomes(printed)).toEqual({
    form: 'passed',
    hashes: 'passed',
    bodies: 'passed',
    readings: 'passed',
    verdict: 'passed',
    mismatches: 'passed',
    journals: 'passed',
    decisions: 'not done',
    signatures: 'not done',
    'chain arbitrum': 'not done',
    'chain base': 'not done',
  })
})

test('the table is for people, and says how it ended', async () => {
  const { status, out } = await world.run(`evidence verify ${path}`, {})
  expect(status).toBe(0)
  expect(out).toMatch(/^CHECK +OUTCOME +RESULT\nform +passed/)
  expect(out).toContain('verified\n')
})

test('a bundle holds the group, the repeats, and the bytes as they came', () => {
  const { parts } = JSON.parse(text) as { parts: Record<string, never> }
  expect(parts).toMatchObject({ subject: { deposit: '1', deposits: ['1', '2'] } })
  const evidence = parts.evidence as unknown as {
    source: string
    body: string
    copies: unknown
    headers: object
  }[]
  const [hook] = evidence.filter(({ source }) => source === 'webhook')
  expect(hook).toMatchObject({
    copies: { count: '2', newestAt: [at(7).toISOString(), at(6).toISOString()] },
    headers: { 'webhook-id': 'evt_1' },
  })
  expect(JSON.parse(Buffer.from(hook?.body ?? '', 'base64').toString())).toMatchObject({
    data: { id: 'dep_1' },
  })
  const journals = parts.journals as unknown as { kind: string }[]
  expect(journals.map(({ kind }) => kind)).toContain('reversal')
})

test('a journal that people booked for the deposit is not in the bundle, which verifies', async () => {
  const file = join(world.folder, 'journal.yaml')
  writeFileSync(
    file,
    `{ date: 2026-01-02, reason: goodwill, deposit: '1', lines: [
      { debit: expenses:write_off, credit: liabilities:suspense, asset: base/USDC, amount: '1' } ] }`,
  )
  const booked = await world.run(`ledger journal add ${file} --break-glass erin,max`, world.environment)
  expect(booked).toMatchObject({ status: 0 })
  const bundle = join(world.folder, 'with-journal.json')
  await world.run(`deposits evidence 1 --out ${bundle}`, world.environment)
  expect(readFileSync(bundle, 'utf8')).not.toContain('goodwill')
  expect((await world.run(`evidence verify ${bundle}`, {})).status).toBe(0)
})

test('webhooks are verified by the secret, and refused by another', async () => {
  const right = await verifyDocument(world, text, { environment: { WEBHOOK_SECRETS: world.secret } })
  expect(outcomes(right).signatures).toBe('passed')
  const wrong = await verifyDocument(world, text, { environment: { WEBHOOK_SECRETS: makeSecret() } })
  expect([wrong.status, outcomes(wrong).signatures]).toEqual([1, 'failed'])
})

test.each([
  [(document: string) => document.slice(0, 3000), 'it is not JSON, or is incomplete'],
  [
    (document: string) => document.replace('depositd-evidence/1', 'depositd-evidence/2'),
    'format: this version of depositd only reads depositd-evidence/1',
  ],
])('a document that was cut short, or is of another version, is told as that', async (change, says) => {
  const { status, checks } = await verifyDocument(world, change(text))
  expect([status, checks]).toEqual([1, [{ check: 'form', outcome: 'failed', says }]])
})

test('keys that are none, and a node that does not answer, are told in words', async () => {
  const { checks } = await verifyDocument(world, text, {
    environment: { WEBHOOK_SECRETS: 'nonsense' },
    more: ' --rpc base=http://127.0.0.1:1',
  })
  const says = checks.filter(({ outcome }) => outcome === 'failed').map((one) => one.says)
  expect(says).toEqual([
    expect.stringMatching(/^WEBHOOK_SECRETS: secret 1 must be /),
    expect.stringMatching(/^base node 127\.0\.0\.1:1, chain id: /),
  ])
})

test('no secret of the settings is in a bundle', async () => {
  const planted = {
    SERVICE_API_KEY: 'planted-api-key-0001',
    RPC_BASE: 'https://base.example/v1/planted-rpc-key-0002',
    RPC_ARBITRUM: 'https://user:planted-password-0003@arbitrum.example',
    QUEUE_URL: 'redis://:planted-queue-0004@127.0.0.1:9',
  }
  const out = join(world.folder, 'planted.json')
  const made = await world.run(`deposits evidence dep_1 --out ${out}`, { ...world.environment, ...planted })
  expect(made.status).toBe(0)
  const document = readFileSync(out, 'utf8')
  expect(document).not.toContain('planted')
  expect(document).not.toContain(world.secret)
  expect(document).not.toContain(world.secret.slice('whsec_'.length))
  expect(document).not.toContain(world.books.url)
})

test('a payload that holds a secret keeps the bundle from being made', async () => {
  const own = { ...world.environment, SERVICE_API_KEY: 'deposit.settled' }
  const { status, err } = await world.run(
    `deposits evidence dep_1 --out ${join(world.folder, 'none.json')}`,
    own,
  )
  expect(status).toBe(2)
  expect(err).toContain('a payload of this deposit contains the value of SERVICE_API_KEY')
})

test('a transaction of several deposits names none of them', async () => {
  const { status, err } = await world.run(`deposits evidence ${txId('pay')} --out ${path}`)
  expect(status).toBe(2)
  expect(err).toContain('belongs to several deposits: 1, 2')
})

test('what is wrong with the words is wrong use', async () => {
  expect((await world.run(`evidence verify ${path} --rpc base`, {})).status).toBe(2)
  expect((await world.run('evidence verify nowhere.json', {})).status).toBe(2)
  expect((await world.run('deposits evidence 99 --out nowhere.json')).status).toBe(3)
  const folder = await world.run(`deposits evidence 1 --out ${world.folder}`)
  expect(folder.status).toBe(2)
  expect(folder.err).toMatch(
    /^depositd: --out cannot be written: EISDIR.*; give the path of a file in an existing folder/,
  )
})

test('a node of a network that the bundle does not know is refused with the networks that it knows', async () => {
  const { status, err } = await world.run(`evidence verify ${path} --rpc bsae=http://127.0.0.1:9`, {})
  expect(status).toBe(2)
  expect(err).toMatch(/^depositd: --rpc is "bsae"; did you mean base\? use .*base/)
})
