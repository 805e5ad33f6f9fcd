import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../support/command.ts'
import {
  type BundleRow,
  type Document,
  failedOf,
  forged,
  rewrite,
  verifyDocument,
} from '../support/evidence-bundle.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

/** Bundles of deposits on real local chains, by a real service, verified on those chains. */

const withinMs = 120_000
const folder = temporaryFolderOfFile()
const stack = new AsyncDisposableStack()
let world: World

/** Whatever a busy machine is late with is not overdue. */
const policy = Object.fromEntries(
  ['webhookWithin', 'apiWithin', 'chainWithin', 'reportWithin', 'settlementWithin'].map((name) => [
    name,
    '1h',
  ]),
)

const payments = [
  { network: 'base', symbol: 'USDC', owner: 'shop', amount: '10.25' },
  { network: 'solana', symbol: 'USDC', owner: 'payroll', amount: '12.5' },
]

beforeAll(async () => {
  world = await startWorld({ networks: ['base', 'solana'], policy }, stack)
  for (const payment of payments) await world.pay(payment)
  await until(
    'both are reconciled',
    async () => {
      const rows = await world.db
        .selectFrom('deposit')
        .selectAll()
        .where('service_id', 'is not', null)
        .execute()
      return rows.length === 2 && rows.every(({ state }) => state === 'reconciled') ? rows : null
    },
    withinMs,
  )
}, withinMs)
afterAll(() => stack.disposeAsync())

/** The nodes as an auditor gives them. */
function rpc(): string {
  return world.networks.map(({ name, rpcUrls }) => ` --rpc ${name}=${rpcUrls[0]}`).join('')
}

const secrets = () => ({ WEBHOOK_SECRETS: world.environment.WEBHOOK_SECRETS ?? '' })
const run = (line: string, environment: Record<string, string> = {}) => runCommand(line, environment)
const verify = (document: string) =>
  verifyDocument({ folder, run }, document, { environment: secrets(), more: rpc() })

async function bundleOf(network: string): Promise<string> {
  const row = await world.db
    .selectFrom('deposit')
    .select('id')
    .where('network', '=', network)
    .where('service_id', 'is not', null)
    .executeTakeFirstOrThrow()
  const path = join(folder, `${network}.json`)
  const made = await run(`deposits evidence ${row.id} --out ${path}`, world.environment)
  expect(made).toMatchObject({ status: 0, err: '' })
  return readFileSync(path, 'utf8')
}

/** Alters a text wherever it stands, in bodies too, and makes all hashes anew. */
function forgedEverywhere(text: string, from: string, to: string): string {
  return forged(text, (document: Document) => {
    document.parts = JSON.parse(JSON.stringify(document.parts).replaceAll(from, to)) as Document['parts']
    for (const row of document.parts.evidence as BundleRow[]) rewrite(row, from, to)
  })
}

describe.each(['base', 'solana'])('a deposit on %s', (network) => {
  let text: string
  beforeAll(async () => {
    text = await bundleOf(network)
  })

  test('is verified whole, by the secret and the chains', { timeout: 60_000 }, async () => {
    const printed = await verify(text)
    const others = printed.checks.filter(({ outcome }) => outcome !== 'passed')
    expect(others).toMatchObject([{ check: 'decisions', outcome: 'not done' }])
    expect(printed.status).toBe(0)
  })

  test('of another amount everywhere is found by the verdict, the signatures and the chain', {
    timeout: 60_000,
  }, async () => {
    const amount = network === 'base' ? '10250000' : '12500000'
    const printed = await verify(forgedEverywhere(text, amount, '99000000'))
    expect(failedOf(printed)).toEqual(['verdict', 'signatures', `chain ${network}`])
  })

  test('of another block everywhere is found by the chain alone', { timeout: 60_000 }, async () => {
    const { parts } = JSON.parse(text) as {
      parts: { evidence: { says: { blockHash?: string; network?: string } }[] }
    }
    const hash =
      parts.evidence.find(({ says }) => says.network === network && says.blockHash)?.says.blockHash ?? ''
    const other = network === 'base' ? `0x${'ab'.repeat(32)}` : '4'.repeat(hash.length)
    const printed = await verify(forgedEverywhere(text, hash, other))
    expect(failedOf(printed)).toEqual([`chain ${network}`])
  })
})

test('a node of another chain proves nothing', { timeout: 60_000 }, async () => {
  const text = await bundleOf('base')
  const [base, solana] = ['base', 'solana'].map(
    (name) => world.networks.find((one) => one.name === name)?.rpcUrls[0],
  )
  const printed = await verifyDocument({ folder, run }, text, {
    more: ` --rpc base=${solana} --rpc solana=${base}`,
  })
  expect(failedOf(printed)).toContain('chain base')
})
